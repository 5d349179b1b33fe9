// Threads that share an executor and a scope, with no interpreter whose lock would serialize them. Arguments: a
// program that adds 1 to each of v0 to v7, and one that reads v0 and v7.
#include <atomic>
#include <cstdio>
#include <thread>

#include "executor/executor.h"
#include "program/files.h"
#include "program/model_file.h"

using namespace paddle_mini;

namespace {

constexpr int kThreads = 3, kRuns = 200;

std::shared_ptr<const VerifiedProgram> load(const char* path, const DeviceManager& machine) {
  return from_file(path, [&](std::string_view bytes) {
    return std::make_shared<const VerifiedProgram>(verify(decode_program(bytes), machine.operators()));
  });
}

float first_of(const Executor::Run& run, size_t fetch) { return run.fetched(fetch).tensor.as<float>()[0]; }

}  // namespace

int main(int, char** argv) {
  DeviceManager machine;
  auto scope = std::make_shared<Scope>();
  Tensor zeros = new_tensor(DType::Float32, Shape{1000});
  for (int64_t i = 0; i < 1000; ++i) zeros.as<float>()[i] = 0;
  for (int i = 0; i < 8; ++i) scope->set("v" + std::to_string(i), zeros);
  auto training = load(argv[1], machine), reading = load(argv[2], machine);
  using Names = std::vector<std::string>;

  Executor shared(machine, {});
  std::atomic<int> wrong{0}, refused{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kRuns; ++i) {  // each with a signature of its own that says the same
        Executor::Run run(shared, std::make_shared<const Signature>(training, Names{}, Names{"v0", "v7"}), scope);
        run.start({});
        wrong += first_of(run, 0) != first_of(run, 1);
      }
    });
    threads.emplace_back([&] {
      Executor own(machine, {});
      auto signature = std::make_shared<const Signature>(reading, Names{}, Names{"a", "b"});
      for (int i = 0; i < kRuns; ++i) {
        Executor::Run run(own, signature, scope);
        run.start({});
        wrong += first_of(run, 0) != first_of(run, 1);
      }
    });
  }
  threads.emplace_back([&] {
    for (int i = 0; i < kRuns; ++i) {
      try {
        Scope::Use use(*scope, Access::Edit);
        use.begin();
        scope->set("extra", zeros);
      } catch (const ScopeInUse&) { ++refused; }
      shared.set_random_state(shared.random_state());
    }
  });
  for (std::thread& thread : threads) thread.join();
  std::printf("%d wrong, %g runs\n", wrong.load(), static_cast<double>(scope->find("v7")->tensor.as<float>()[0]));
  return 0;
}
