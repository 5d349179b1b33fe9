// Support for the channels-last layout in operators written for channels as axis 1: transposes inputs and outputs.
#pragma once

#include "core/kernel.h"
#include "core/op_schema.h"
#include "math/transpose.h"

namespace paddle_mini {

// The values of attribute data_format.
inline std::vector<std::string> image_layouts() { return {"NCHW", "NHWC", "AnyLayout"}; }
bool has_channels_last(const OpDesc& op);
OpDesc channels_first(OpDesc op);           // the same operator on images [n, c, h, w]
bool holds_images(const std::string& port);  // Input, Output, X, Out and their gradients; not filters
const std::vector<int>& order_of_channels_first();
const std::vector<int>& order_of_channels_last();

// Makes an `infer` for both layouts from that for channels as axis 1.
InferFunction for_both_layouts(InferFunction infer);

// Kernels for both layouts: kernels<AnyLayout<Conv2dKernel>::Of, float, double>().
template <template <class> class Inner>
struct AnyLayout {
  template <class T>
  class Of : public Kernel {
   public:
    explicit Of(KernelInit& init) {
      init.add_kept_bytes(sizeof(Inner<T>));
      if (!has_channels_last(init.op())) {
        inner_ = std::make_unique<Inner<T>>(init);
        return;
      }
      op_ = channels_first(init.op());
      std::vector<std::vector<Variable*>> inputs, outputs;
      for (const Slot& slot : op_.inputs) {
        inputs.emplace_back();
        for (size_t i = 0; i < slot.arguments.size(); ++i) {
          Variable* given = init.input(slot.name.c_str(), i);
          bool moves = given && holds_images(slot.name);
          inputs.back().push_back(moves ? moved(init, given, before_, true) : given);
        }
      }
      for (const Slot& slot : op_.outputs) {
        outputs.emplace_back();
        for (size_t i = 0; i < slot.arguments.size(); ++i) {
          Variable* wanted = init.output(slot.name.c_str(), i);
          bool moves = wanted && holds_images(slot.name);
          outputs.back().push_back(moves ? moved(init, wanted, after_, false) : wanted);
        }
      }
      KernelInit inside(op_, std::move(inputs), std::move(outputs), init);
      inner_ = std::make_unique<Inner<T>>(inside);
    }

    void run(KernelContext& context) override {
      for (const Move& move : before_) move.transpose.run(context, move.from->tensor.data, move.to->tensor.data);
      inner_->run(context);
      for (const Move& move : after_) move.transpose.run(context, move.from->tensor.data, move.to->tensor.data);
    }
    bool may_fail_validation() const override { return inner_->may_fail_validation(); }
    bool stores_parts() const override { return after_.empty() && inner_->stores_parts(); }

   private:
    struct Move {
      Transpose transpose;
      Variable *from, *to;
    };

    // Scratch memory for the image in the other layout.
    static Variable* moved(KernelInit& init, Variable* image, std::vector<Move>& moves, bool is_input) {
      const Shape& shape = image->tensor.shape;
      Variable* other = init.scratch(image->tensor.dtype, shape.numel());
      other->tensor.shape = transposed(shape, order_of_channels_first());
      size_t bytes = size_of(image->tensor.dtype);
      if (is_input) moves.push_back({Transpose(shape, order_of_channels_first(), bytes), image, other});
      else moves.push_back({Transpose(other->tensor.shape, order_of_channels_last(), bytes), other, image});
      return other;
    }

    OpDesc op_;
    std::unique_ptr<Kernel> inner_;
    std::vector<Move> before_, after_;
  };
};

}  // namespace paddle_mini
