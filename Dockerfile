# An image with paddle_mini installed from this tree, for every CPU level: docker build -t paddle_mini . && docker run paddle_mini
FROM debian:12-slim AS build
RUN apt-get update && apt-get install --yes --no-install-recommends g++ make python3 python3-dev python3-venv
COPY . /source
WORKDIR /source
RUN make wheel

FROM debian:12-slim
RUN apt-get update && apt-get install --yes --no-install-recommends python3 python3-venv && rm -rf /var/lib/apt/lists/*
COPY --from=build /source/dist/*.whl /tmp/
RUN python3 -m venv /opt/paddle_mini && /opt/paddle_mini/bin/pip install --no-cache-dir /tmp/*.whl && rm /tmp/*.whl
ENV PATH=/opt/paddle_mini/bin:$PATH
RUN useradd --create-home --home-dir /work user
USER user
WORKDIR /work
CMD ["paddle-mini", "doctor"]
