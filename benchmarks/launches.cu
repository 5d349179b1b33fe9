// What the CUDA runtime takes to launch a small kernel, for benchmarks/gpu.py: `launches` or `graph` as a workload; nothing but
// launches from one thread. See worker.py for the lines over pipes.
#include <chrono>
#include <cstdio>
#include <cstring>

struct Arguments {
  const float *x, *y;
  float* out;
  long long n, more[8];
};

__global__ void add(const __grid_constant__ Arguments a) {
  long long i = blockIdx.x * 256ll + threadIdx.x;
  if (i < a.n) a.out[i] = a.x[i] + a.y[i];
}

int main() {
  constexpr int kOperators = 1000;
  float* memory = nullptr;
  cudaMalloc(&memory, 4096);
  cudaMemset(memory, 1, 4096);
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  Arguments arguments{memory, memory + 8, memory + 16, 8, {}};
  auto launches = [&] {
    for (int i = 0; i < kOperators; ++i) add<<<1, 256, 0, stream>>>(arguments);
  };
  cudaGraph_t graph;
  cudaGraphExec_t whole;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  launches();
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&whole, graph, 0);
  char line[100], word[100];
  bool graphs = false;
  while (std::fgets(line, sizeof line, stdin)) {
    if (std::sscanf(line, "prepare %99s", word) == 1) {
      graphs = std::strcmp(word, "graph") == 0;
      std::printf("ok\n");
    } else {
      int steps = 1;
      std::sscanf(line, "run %d", &steps);
      double seconds = 0;  // of the host, with an empty stream before each step
      for (int step = 0; step < steps; ++step) {
        cudaStreamSynchronize(stream);
        auto begin = std::chrono::steady_clock::now();
        if (graphs) cudaGraphLaunch(whole, stream);
        else launches();
        seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      }
      cudaError_t error = cudaStreamSynchronize(stream);
      if (error != cudaSuccess) std::printf("error %s\n", cudaGetErrorString(error));
      else std::printf("ok %.9f %.9f\n", seconds, seconds / steps);
    }
    std::fflush(stdout);
  }
}
