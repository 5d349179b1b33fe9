// predict PREFIX: a predictor that four threads call; prints the outputs of each thread's batch, in their order.
#include <paddle_mini.hpp>

#include <cstdio>
#include <thread>

namespace {

constexpr int kInputs = 6, kThreads = 4;

// Batches of 1, 2, 3 … rows with the numbers 0, 1/8, 2/8 …
std::vector<float> batch(int rows) {
  std::vector<float> values;
  for (int i = 0; i < rows * kInputs; ++i) values.push_back(static_cast<float>(i) / 8);
  return values;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fputs("usage: predict PREFIX\n", stderr), 2;
  try {
    pm_options options = pm::options();
    options.threads = 1;  // requests come from several threads
    pm::Predictor predictor(argv[1], options);
    std::vector<float> outputs[kThreads];
    std::string errors[kThreads];
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        try {
          pm::Values values;
          std::vector<float> x = batch(i + 1);
          predictor.run({pm::tensor(x, {i + 1, kInputs})}, values);
          outputs[i] = values.copy<float>(0);
        } catch (const std::exception& error) { errors[i] = error.what(); }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (int i = 0; i < kThreads; ++i) {
      if (!errors[i].empty()) throw std::runtime_error(errors[i]);
      for (float value : outputs[i]) std::printf("%.6f\n", value);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "predict: %s\n", error.what());
    return 1;
  }
}
