// Making and ending claims, each under the scope's session lock.
#include "core/claim.h"

#include <utility>

namespace paddle_mini {
namespace {

void end_claim(Scope& scope, uint64_t claim, bool (*stop)()) {
  scope.leave_claim(claim);  // should the following be interrupted
  try {
    Scope::Use use(scope, Access::Change);
    use.begin(stop);
    scope.end_claim(claim);
  } catch (const ScopeInUse&) {  // in a signal handler during a run of this thread
  }
}

}  // namespace

SwappedValues::~SwappedValues() {
  if (need_restore_) scope_->leave_claim(claim_);
}

void SwappedValues::enter(Stop stop) const {
  Scope::Use use(*scope_, Access::Read);
  use.begin(stop);
  require<OpError>(scope_->has_claim(claim_), "these averages were taken back already: call apply() again");
}

void SwappedValues::restore(Stop stop) {
  need_restore_ = false;
  end_claim(*scope_, claim_, stop);
}

void SwappedValues::exit(Stop stop) {
  if (need_restore_) restore(stop);
}

Claim::Claim(std::shared_ptr<Scope> scope, std::vector<Scope::Exchange> names, Stop stop) : scope_(std::move(scope)) {
  Scope::Use use(*scope_, Access::Change);
  use.begin(stop);
  claim_ = scope_->claim(std::move(names));
}

Claim::~Claim() {
  if (!handed_on_) scope_->leave_claim(claim_);
}

std::unique_ptr<SwappedValues> Claim::apply(bool need_restore, Stop stop) {
  auto applied = std::make_unique<SwappedValues>(scope_, claim_, need_restore);
  Scope::Use use(*scope_, Access::Change);
  use.begin(stop);
  scope_->substitute(claim_);
  handed_on_ = true;
  return applied;
}

void Claim::exit(Stop stop) {
  if (!std::exchange(handed_on_, true)) end_claim(*scope_, claim_, stop);
}

}  // namespace paddle_mini
