# Serves a saved model over HTTP, in batches: python server.py PREFIX [--port 8080] [--calls 2] [--rows 32] [--wait-ms 2]
"""POST /predict takes {"inputs": {name: rows}} and returns {"outputs": {name: rows}}; a row of an input of sequences is a list
of any length, and NaN and infinities are null. GET /model describes both, GET /health returns "ok". Requests that arrive
together run as one batch; each gets its rows of the outputs. A wrong request gets status 400 and a message, one that finds the
queue full 503. Needs aiohttp: pip install paddle_mini[serving]."""

import argparse
import asyncio
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from aiohttp import web

import paddle_mini as pm

MOST_BYTES = 4 << 20


class Request:
    """The arrays of one request, and the future of its outputs. elements: of all its sequences."""

    def __init__(self, rows, feed):
        self.rows, self.feed, self.future = rows, feed, asyncio.get_running_loop().create_future()
        arrays = {name: np.asarray(value) for name, value in feed.items()}
        self.form = tuple((name, array.shape[1:]) for name, array in arrays.items())
        self.elements = next((len(arrays[name]) for name, value in feed.items() if isinstance(value, pm.LoDTensor)), rows)

    def finish(self, outputs):
        if not self.future.done():  # the client may have gone
            self.future.set_result(outputs)

    def fail(self, error):
        if not self.future.done():
            self.future.set_exception(error)


def joined(values):
    """One feed of those of several requests."""
    array = np.concatenate([np.asarray(value) for value in values])
    if not isinstance(values[0], pm.LoDTensor):
        return array
    lengths = [np.concatenate([np.diff(value.lod[i]) for value in values]) for i in range(len(values[0].lod))]
    return pm.LoDTensor(array, [[0, *np.cumsum(level).tolist()] for level in lengths])


def json_values(array):
    """Nested lists of numbers. JSON has neither NaN nor infinities: they are null. NumPy lacks bfloat16: its arrays are bits."""
    if array.dtype == np.uint16:
        array = (array.astype(np.uint32) << 16).view(np.float32)
    finite = np.isfinite(array)
    return array.tolist() if finite.all() else np.where(finite, array, None).tolist()


class Batcher:
    """Runs requests of one form together: up to `rows` rows, of those that arrive within `wait` seconds of the first."""

    def __init__(self, predictor, calls, rows, wait, queued):
        self.predictor, self.rows, self.wait = predictor, rows, wait
        self.queue, self.pool = asyncio.Queue(queued), ThreadPoolExecutor(calls)
        self.tasks = [asyncio.create_task(self._serve()) for _ in range(calls)]
        self.batches = 0

    async def submit(self, request):
        """The outputs of a request; asyncio.QueueFull if too many wait."""
        self.queue.put_nowait(request)
        return await request.future

    async def close(self):
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        self.pool.shutdown()

    async def _serve(self):
        held = None  # taken from the queue, but of another form, or too large for the batch before
        while True:
            batch = [held or await self.queue.get()]
            held = await self._fill(batch)
            self.batches += 1
            await asyncio.get_running_loop().run_in_executor(self.pool, self._run, batch, asyncio.get_running_loop())

    async def _fill(self, batch):
        """Adds requests to the batch; returns one that does not fit, or None."""
        end, rows = asyncio.get_running_loop().time() + self.wait, batch[0].rows
        while rows < self.rows:
            left = end - asyncio.get_running_loop().time()
            try:
                request = self.queue.get_nowait() if left <= 0 else await asyncio.wait_for(self.queue.get(), left)
            except (asyncio.QueueEmpty, asyncio.TimeoutError):
                break
            if request.form != batch[0].form or rows + request.rows > self.rows:
                return request
            batch.append(request)
            rows += request.rows
        return None

    def _run(self, batch, loop):
        """In a thread of the pool. If a batch fails, each request runs alone, so that the error is that of one request."""
        try:
            parts = self._outputs(batch)
        except Exception as error:
            if len(batch) > 1:
                for request in batch:
                    self._run([request], loop)
            else:
                loop.call_soon_threadsafe(batch[0].fail, error)
            return
        for request, outputs in zip(batch, parts):
            loop.call_soon_threadsafe(request.finish, outputs)

    def _outputs(self, batch):
        outputs = self.predictor({name: joined([request.feed[name] for request in batch]) for name in batch[0].feed})
        if len(batch) == 1:
            return [outputs]
        return list(zip(*(self._parts(output, batch) for output in outputs)))

    @staticmethod
    def _parts(output, batch):
        """An output has a row for each row of the inputs, or for each element of their sequences."""
        for sizes in ([request.rows for request in batch], [request.elements for request in batch]):
            if output.shape[:1] == (sum(sizes),):
                return np.split(output, np.cumsum(sizes)[:-1])
        raise pm.ShapeError("the outputs of this model are not one row for each row of the inputs")


class Model:
    """The handlers of one model."""

    def __init__(self, prefix, calls=2, rows=32, wait=0.002, queued=1024):
        self.predictor = pm.Predictor(prefix, threads=1)  # requests are parallel already
        with open(f"{prefix}.pdmodel", "rb") as file:
            program = pm.Program.from_bytes(file.read())
        self.declared = {name: program.global_block().var(name) for name in self.predictor.inputs}
        self.feeder = pm.data.DataFeeder(self.predictor.inputs, program)
        self.settings, self.batcher = (calls, rows, wait, queued), None

    def application(self):
        application = web.Application(client_max_size=MOST_BYTES)
        application.add_routes(
            [web.post("/predict", self.predict), web.get("/model", self.describe), web.get("/health", self.health)]
        )
        application.cleanup_ctx.append(self._running)
        return application

    async def _running(self, _):
        self.batcher = Batcher(self.predictor, *self.settings)
        yield
        await self.batcher.close()

    async def predict(self, request):
        try:
            outputs = await self.batcher.submit(self._request(await request.json()))
        except asyncio.QueueFull:
            return web.json_response({"error": "too many requests wait"}, status=503)
        except (pm.Error, ValueError) as error:
            return web.json_response({"error": str(error)}, status=400)
        named = zip(self.predictor.outputs, outputs)
        return web.json_response({"outputs": {name: json_values(value) for name, value in named}})

    def _request(self, body):
        """ValueError if it is not one."""
        inputs = body.get("inputs") if isinstance(body, dict) else None
        if not isinstance(inputs, dict) or inputs.keys() != self.declared.keys():
            raise ValueError(f"inputs must be an object with {', '.join(self.declared)}")
        columns = [inputs[name] for name in self.declared]
        if not all(isinstance(column, list) and len(column) == len(columns[0]) for column in columns):
            raise ValueError("each input must be a list of rows, all of the same number")
        return Request(len(columns[0]), self.feeder.feed(zip(*columns)))

    async def describe(self, _):
        inputs = {
            name: {"shape": list(one.shape), "dtype": one.dtype, "levels": one.lod_level} for name, one in self.declared.items()
        }
        return web.json_response({"inputs": inputs, "outputs": self.predictor.outputs, "bytes": self.predictor.parameter_bytes})

    async def health(self, _):
        return web.Response(text="ok")


def main():
    parser = argparse.ArgumentParser(description="Serves a saved model over HTTP, in batches.")
    parser.add_argument("prefix")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--calls", type=int, default=2, help="batches that run at the same time")
    parser.add_argument("--rows", type=int, default=32, help="most rows of a batch")
    parser.add_argument("--wait-ms", type=float, default=2, help="how long a batch waits for more requests")
    words = parser.parse_args()
    model = Model(words.prefix, words.calls, words.rows, words.wait_ms / 1000)
    # aiohttp drops what arrives after SIGTERM: a request without its body would wait for the default of a minute.
    web.run_app(model.application(), host=words.host, port=words.port, shutdown_timeout=5)


if __name__ == "__main__":
    main()
