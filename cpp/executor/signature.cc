// Checks signatures.
#include "executor/signature.h"

namespace paddle_mini {

Signature::Signature(std::shared_ptr<const VerifiedProgram> program, std::vector<std::string> feeds,
                     std::vector<std::string> fetches)
    : program_(std::move(program)), feeds_(std::move(feeds)), fetches_(std::move(fetches)) {
  for (const std::string& name : fetches_) {  // checked before a run changes anything
    const VarDesc* var = program_->find(0, name);
    auto kind = var ? static_cast<VarKind>(var->kind) : VarKind::Tensor;
    require<OpError>(kind != VarKind::StepScopes && kind != VarKind::LodRankTable, "fetch '", printable(name),
                     "': a variable that is ", name_of(kind), " can't be fetched");
  }
}

void Signature::require_feeds(size_t count) const {
  require<ProgramError>(count == feeds_.size(), count, " arrays for ", feeds_.size(), " feeds");
}

}  // namespace paddle_mini
