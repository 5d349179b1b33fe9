// c_interface PREFIX ROWS INPUTS: the time of a call of the C interface beside that of the executor that it calls. Prints the
// best and the median of series that alternate, in nanoseconds of CPU time for each call.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "capi/objects.h"

using namespace paddle_mini;

namespace {

constexpr int kSeries = 40, kCalls = 5000;

double cpu_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void done(int status) {
  if (status == PM_OK) return;
  std::fprintf(stderr, "%s\n", pm_last_error());
  std::exit(1);
}

struct Way {
  const char* name;
  std::function<void()> call;
  std::vector<double> times;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  std::string prefix = argv[1];
  std::vector<float> x(static_cast<size_t>(atol(argv[2]) * atol(argv[3])), 0.5f);
  pm_tensor input{};
  input.data = x.data(), input.bytes = x.size() * sizeof(float), input.dtype = PM_FLOAT32, input.rank = 2;
  input.shape[0] = atol(argv[2]), input.shape[1] = atol(argv[3]);

  std::shared_ptr<const capi::Model> model = capi::read_model_file(prefix + ".pdmodel");
  auto inner =
      std::make_shared<const Signature>(model->verified(), model->names(OpRole::Feed), model->names(OpRole::Fetch));
  auto values = std::make_shared<Scope>();
  set_parameters(*values, capi::read_parameters_at(prefix + ".pdiparams", *model, {}));
  ExecutorOptions one_thread;
  one_thread.threads = 1;
  Executor runner(capi::runtime(), one_thread);
  std::vector<Tensor> feeds = capi::tensors_of(&input, 1, inner->feeds());

  pm_options options{};
  options.size = sizeof options, options.threads = 1;
  pm_program program;
  pm_scope scope;
  pm_executor executor;
  pm_signature signature;
  pm_predictor predictor;
  pm_values fetched;
  done(pm_program_load_file((prefix + ".pdmodel").c_str(), &program));
  done(pm_scope_create(&scope));
  done(pm_scope_load(scope, program, (prefix + ".pdiparams").c_str(), PM_CHECKED));
  done(pm_executor_create(&options, &executor));
  done(pm_signature_create(program, nullptr, 0, nullptr, 0, &signature));
  done(pm_predictor_create(program, scope, &options, &predictor));
  done(pm_values_create(&fetched));

  pm_tensor output;
  std::vector<Way> ways{{"executor",
                         [&] {
                           Executor::Run run(runner, inner, values);
                           run.start(feeds, nullptr);
                         },
                         {}},
                        {"pm_run",
                         [&] {
                           done(pm_run(executor, signature, scope, &input, 1, fetched));
                           done(pm_values_get(fetched, 0, 0, &output));
                         },
                         {}},
                        {"pm_predictor_run",
                         [&] {
                           done(pm_predictor_run(predictor, &input, 1, fetched));
                           done(pm_values_get(fetched, 0, 0, &output));
                         },
                         {}}};
  for (int series = 0; series < kSeries; ++series) {
    for (Way& way : ways) {
      double begin = cpu_seconds();
      for (int i = 0; i < kCalls; ++i) way.call();
      way.times.push_back((cpu_seconds() - begin) / kCalls * 1e9);
    }
  }
  for (Way& way : ways) {
    std::sort(way.times.begin(), way.times.end());
    std::printf("%s %.0f %.0f\n", way.name, way.times.front(), way.times[kSeries / 2]);
  }
}
