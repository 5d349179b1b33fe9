// pm_run: runs a serialized program, for inference or training, without Python, by the C interface.
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <map>
#include <optional>
#include <sstream>

#include "capi/paddle_mini.hpp"
#include "tools/npy.h"

namespace paddle_mini {
namespace {

constexpr const char kUsage[] = R"(usage: pm_run MODEL.pdmodel [options]

  --params FILE        read the program's persistable variables (.pdiparams)
  --params-for MODEL   with --params: the file is this program's
  --startup MODEL      run this program once before (initial values of a training program)
  --feed NAME=FILE     feed a variable from an .npy file; may be repeated
  --fetch NAME[,NAME]  what to print or write; default: the program's own fetches
  --steps N            run N times (default 1)
  --batch K            each step is fed the next K rows of every array, from the start again at its end
  --out DIR            write what the last step fetched to DIR/NAME.npy
  --save-params FILE   write the persistable variables afterwards
  --save-for MODEL     with --save-params: those that this program declares, in its order
  --place DEVICE       where operators run that name no device: cpu (default), gpu:0, emulated:0
  --seed N             seed of operators that have none of their own
  --max-loop-steps N   how many steps each loop of a program may take in one run (default: no bound)
  --threads N          at most this many threads run an operator (default: the CPUs that the process may use)
  --op FILE.so         add the operators of a library that pm.load_op has compiled; its code runs; may be repeated
  --quiet              print no values
  --no-check           take parameters that are not those saved with their program
  --files              let the operators save and load touch the files that the program names

Exit status: 0 done, 1 the program, a file or the data is wrong, 2 the command line is wrong, 130 stopped.
PM_CPU=v3 asks for another kernel library, PM_LOG=plan prints the plan.
)";

struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Options {
  std::string model, params, startup, out, params_for, save_params, save_for, place = "cpu";
  std::map<std::string, std::string> feeds;
  std::vector<std::string> fetches, operators;
  int64_t steps = 1, batch = 0, max_loop_steps = 0, threads = 0;
  uint64_t seed = 0;
  bool quiet = false;
  bool files = false;
  bool check = true;
};

int64_t natural(const std::string& option, const std::string& digits) {
  bool number = !digits.empty() && digits.size() < 16 && digits.find_first_not_of("0123456789") == std::string::npos;
  if (!number) throw UsageError(option + " takes an integer, not '" + digits + "'");
  return std::stoll(digits);
}

Options parse(const std::vector<std::string>& words) {
  Options options;
  std::map<std::string, std::string*> files = {
      {"--params", &options.params},           {"--startup", &options.startup},       {"--out", &options.out},
      {"--save-params", &options.save_params}, {"--params-for", &options.params_for}, {"--place", &options.place},
      {"--save-for", &options.save_for}};
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    auto value = [&]() -> const std::string& {
      if (i + 1 == words.size()) throw UsageError(word + " needs a value");
      return words[++i];
    };
    if (files.count(word)) *files[word] = value();
    else if (word == "--steps") options.steps = natural(word, value());
    else if (word == "--batch") options.batch = natural(word, value());
    else if (word == "--seed") options.seed = static_cast<uint64_t>(natural(word, value()));
    else if (word == "--max-loop-steps") options.max_loop_steps = natural(word, value());
    else if (word == "--threads") options.threads = natural(word, value());
    else if (word == "--op") options.operators.push_back(value());
    else if (word == "--quiet") options.quiet = true;
    else if (word == "--files") options.files = true;
    else if (word == "--no-check") options.check = false;
    else if (word == "--feed") {
      std::string pair = value();
      size_t equals = pair.find('=');
      if (equals == std::string::npos) throw UsageError("--feed takes NAME=FILE, not '" + pair + "'");
      options.feeds[pair.substr(0, equals)] = pair.substr(equals + 1);
    } else if (word == "--fetch") {
      std::stringstream list(value());
      for (std::string name; std::getline(list, name, ',');) options.fetches.push_back(name);
    } else if (word.rfind("--", 0) == 0 || !options.model.empty()) {
      throw UsageError("'" + word + "' is not a known option");
    } else {
      options.model = word;
    }
  }
  if (options.model.empty()) throw UsageError("no program given");
  if (!options.params_for.empty() && options.params.empty()) throw UsageError("--params-for goes with --params");
  if (!options.save_for.empty() && options.save_params.empty()) throw UsageError("--save-for goes with --save-params");
  return options;
}

volatile std::sig_atomic_t stop_asked = 0;

pm_tensor given(const Tensor& tensor) {
  pm_tensor made{};
  made.data = tensor.data;
  made.bytes = tensor.bytes();
  made.dtype = static_cast<int32_t>(tensor.dtype);
  made.rank = tensor.shape.rank();
  for (int axis = 0; axis < made.rank; ++axis) made.shape[axis] = tensor.shape[axis];
  return made;
}

// A view of the value that was fetched, valid until the next run.
Tensor fetched(const pm::Values& values, size_t i, const std::string& name) {
  pm_tensor value = values.at(i);
  require<OpError>(value.data, "fetch '", printable(name), "' has no value");
  Tensor tensor;
  tensor.dtype = static_cast<DType>(value.dtype);
  tensor.shape = Shape(std::vector<int64_t>(value.shape, value.shape + value.rank));
  tensor.data = const_cast<void*>(value.data);
  return tensor;
}

// A view of the rows of step `step` in an array.
Tensor rows_of_step(const Tensor& array, int64_t step, int64_t batch, const std::string& name) {
  if (batch == 0) return array;
  require<ShapeError>(array.shape.rank() > 0 && array.shape[0] >= batch, "feed '", name, "' ", array.shape.str(),
                      " has fewer than ", batch, " rows");
  int64_t first = step % (array.shape[0] / batch) * batch;
  Tensor part = array;
  part.data = static_cast<char*>(array.data) +
              static_cast<size_t>(first) * (array.bytes() / static_cast<size_t>(array.shape[0]));
  part.shape[0] = batch;
  return part;
}

// Arrays of different length would end at different steps, and their rows would no longer correspond.
void require_same_rows(const std::vector<std::string>& names, const std::vector<Tensor>& arrays) {
  auto rows = [&](size_t i) { return arrays[i].shape.rank() ? arrays[i].shape[0] : 0; };
  for (size_t i = 1; i < arrays.size(); ++i) {
    require<ShapeError>(rows(i) == rows(0), "feed '", names[i], "' has ", rows(i), " rows, '", names[0], "' has ",
                        rows(0));
  }
}

void print_value(const std::string& name, const Tensor& tensor) {
  constexpr int64_t kMost = 10;
  std::printf("  %s", printable(name, 60).c_str());
  if (tensor.shape.numel() != 1) std::printf(" %s", tensor.shape.str().c_str());
  for (int64_t i = 0; i < std::min(tensor.shape.numel(), kMost); ++i) {
    switch (tensor.dtype) {
      case DType::Float32: std::printf(" %.7g", static_cast<double>(tensor.as<float>()[i])); break;
      case DType::Float64: std::printf(" %.15g", tensor.as<double>()[i]); break;
      case DType::Int32: std::printf(" %d", tensor.as<int32_t>()[i]); break;
      case DType::Int64: std::printf(" %lld", static_cast<long long>(tensor.as<int64_t>()[i])); break;
      case DType::Bool: std::printf(" %s", tensor.as<bool>()[i] ? "true" : "false"); break;
      default: std::printf(" (%s)", name_of(tensor.dtype)); return;
    }
  }
  if (tensor.shape.numel() > kMost) std::printf(" ...");
}

class Run {
 public:
  explicit Run(const Options& options) : options_(options), executor_(executor_options(options)) {}

  int operator()() {
    for (const std::string& library : options_.operators) pm::load_operators(library);
    pm::Program program = pm::Program::load_file(options_.model);
    program.names(PM_FEEDS);  // verifies the operators before anything is run
    if (!options_.startup.empty()) {
      executor_.run(pm::Signature(pm::Program::load_file(options_.startup), {}, {}), scope_);
      scope_.wait();
    }
    if (!options_.params.empty()) {
      int how = options_.check ? PM_CHECKED : PM_UNCHECKED;
      if (options_.params_for.empty()) scope_.load(program, options_.params, how);
      else scope_.load(pm::Program::load_file(options_.params_for), options_.params, how);
    }
    bool finished = train(program);
    scope_.wait();
    if (!options_.save_params.empty()) save(program);
    return finished ? 0 : 130;
  }

 private:
  using Names = std::vector<std::string>;

  static pm_options executor_options(const Options& options) {
    pm_options result = pm::options();
    result.place = options.place.c_str();
    result.has_seed = 1;
    result.seed = options.seed;
    result.files = options.files;
    result.max_loop_steps = options.max_loop_steps;
    result.threads = static_cast<int32_t>(std::min<int64_t>(options.threads, 1 << 20));
    result.stop = [](void*) { return stop_asked ? 1 : 0; };
    return result;
  }

  // Returns false if the user stopped it; the scope then holds the result of a complete step.
  bool train(const pm::Program& program) {
    Names names, fetches = options_.fetches.empty() ? program.names(PM_FETCHES) : options_.fetches;
    std::vector<Tensor> arrays;
    for (const auto& [name, path] : options_.feeds) {
      names.push_back(name);
      arrays.push_back(read_npy(path));
    }
    if (options_.batch > 0) require_same_rows(names, arrays);
    pm::Signature called(program, names, fetches);
    pm::Values values;
    for (int64_t step = 0; step < options_.steps; ++step) {
      std::vector<pm_tensor> feeds;
      for (size_t i = 0; i < arrays.size(); ++i)
        feeds.push_back(given(rows_of_step(arrays[i], step, options_.batch, names[i])));
      if (!executor_.run(called, scope_, feeds, &values)) return false;
      print_step(values, fetches, step);
      if (stop_asked) return false;
      if (step + 1 == options_.steps) write_fetched(values, fetches);
    }
    return true;
  }

  void print_step(const pm::Values& values, const Names& fetches, int64_t step) const {
    if (options_.quiet || fetches.empty()) return;
    std::printf("step %lld", static_cast<long long>(step + 1));
    for (size_t i = 0; i < fetches.size(); ++i) print_value(fetches[i], fetched(values, i, fetches[i]));
    std::printf("\n");
  }

  void write_fetched(const pm::Values& values, const Names& fetches) const {
    if (options_.out.empty()) return;
    for (size_t i = 0; i < fetches.size(); ++i)
      write_npy(options_.out + "/" + file_name(fetches[i]) + ".npy", fetched(values, i, fetches[i]));
  }

  // Replaces characters of a variable's name so that it is never a path.
  static std::string file_name(std::string name) {
    for (char& c : name) {
      if (c == '/' || c == '\0') c = '_';
    }
    return name == "." || name == ".." ? "_" : name;
  }

  void save(const pm::Program& program) const {
    if (options_.save_for.empty()) scope_.save(program, options_.save_params);
    else scope_.save(pm::Program::load_file(options_.save_for), options_.save_params);
  }

  const Options& options_;
  pm::Executor executor_;
  pm::Scope scope_;
};

}  // namespace
}  // namespace paddle_mini

int main(int argc, char** argv) {
  using namespace paddle_mini;
  std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty() || words[0] == "--help" || words[0] == "-h") {
    std::fputs(kUsage, words.empty() ? stderr : stdout);
    return words.empty() ? 2 : 0;
  }
  std::signal(SIGINT, [](int) { stop_asked = 1; });
  try {
    Options options = parse(words);
    int status = Run(options)();
    require<ProgramError>(std::fflush(stdout) == 0 && !std::ferror(stdout), "can't write to the standard output");
    return status;
  } catch (const UsageError& e) {
    std::cerr << "pm_run: " << e.what() << " (see pm_run --help)\n";
    return 2;
  } catch (const std::exception& e) {
    std::cerr << "pm_run: " << e.what() << "\n";
    return 1;
  }
}
