# ParameterAverage: any optimizer, with averages of the parameters it changes.
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from .. import dtypes
from .._core import ProgramError, printable
from ..averaging.average_swapper import AverageSwapper
from ..averaging.averaged_parameter import average_dtype
from ..averaging.lengths import Lengthy, whole_steps
from ..averaging.running import RunningAverage
from ..averaging.scheme import Scheme
from ..averaging.schemes import Latest, Window
from ..block import Block
from ..errors import shown
from ..guards import default_main_program
from ..operator import Operator
from ..place import CPUPlace, Place
from ..program import Program
from ..roles import LOSS, OPTIMIZE, device_guard, op_role_guard
from ..variable import Parameter, Variable, names_of
from .averaging_optimizer import AveragingOptimizer
from .optimizer import Minimizer
from .pairs import Pairs, require_pairs
from .wrapper import chain, masters_of, updated_by

Schemes = Scheme | Sequence[Scheme]


class ParameterAverage(AveragingOptimizer):
    """Any optimizer, with averages of the parameters it changes.

    optimizer: what changes the parameters, GradientMerge and LossScaling too; its results are the same bits with and
    without this. scheme: one of paddle_mini.averaging, or a list of them, which share one read of each parameter;
    window_size=n is short for Window(n). every: steps from one averaging to the next; lengths stay in steps.
    start_step: steps that are left out at the beginning. parameters: which to average (variables or names); None: every
    one that the optimizer changes and whose ParamAttr does not say do_model_average=False. place: where the averages
    live and are computed; None: where training runs.

    buffers: what else a layer keeps, such as batch normalization's statistics, has with averaged parameters: "copy", the
    value it has; "average", its average. See reestimate_batch_norm. non_finite: where a parameter is NaN or infinite:
    "raise": OpError naming it, and the step is taken back in all averages; "skip": the step enters no average and is counted in
    statistics().skipped, which costs one more read of the parameters.

    Only steps that change parameters count: not the other runs of GradientMerge, not those that LossScaling leaves out.
    A parameter with a sparse gradient is averaged row by row when its rows change, if the optimizer leaves the other
    rows alone; the result is the same. Averages are float64 for float64 parameters and float32 for all others.
    Example:
        >>> loss = pm.layers.mean(pm.layers.fc(pm.layers.data("x", [-1, 8]), 1))
        >>> average = pm.optimizer.ParameterAverage(pm.optimizer.SGD(0.1), pm.averaging.Exponential(0.999))
        >>> ops, gradients = average.minimize(loss)
        >>> exe = pm.Executor()
        >>> exe.run(pm.default_startup_program())
        []
        >>> exe.run(feed={"x": np.ones((4, 8), "float32")})
        []
        >>> with average.apply(exe):  # parameters are their averages here
        ...     pm.io.save_parameters("averaged.pdiparams", pm.default_main_program())
    """

    def __init__(
        self,
        optimizer: Any,
        scheme: Schemes | None = None,
        window_size: Lengthy | None = None,
        every: int = 1,
        start_step: Lengthy = 0,
        place: Place | None = None,
        parameters: Sequence[str | Variable] | None = None,
        buffers: str = "copy",
        non_finite: str = "raise",
    ):
        super().__init__(optimizer)
        if any(isinstance(one, AveragingOptimizer) for one in chain(optimizer)):
            raise ProgramError(
                f"ParameterAverage around {type(optimizer).__name__}, which has averages: give one of them a list of schemes"
            )
        self.every = whole_steps("every", every)
        self.schemes = _schemes(scheme, window_size, self.every)
        self.start_step = whole_steps("start_step", start_step, 0)
        if place is not None and not isinstance(place, Place):
            raise ProgramError(f"place is {shown(place)}: give CPUPlace() or CUDAPlace(0)")
        for name, value, (one, other) in (
            ("buffers", buffers, ("copy", "average")),
            ("non_finite", non_finite, ("raise", "skip")),
        ):
            if value not in (one, other):
                raise ProgramError(f"{name} is {shown(value)}, it must be {shown(one)} or {shown(other)}")
        self.place = place
        self.buffers = buffers
        self.non_finite = non_finite
        self._wanted = None if parameters is None else names_of(parameters, "parameters")

    def apply_gradients(self, params_grads: Pairs) -> list[Operator]:
        """Appends the optimizer's operators and those of averaging. Returns the optimizer's."""
        self.require_new()
        block = default_main_program().current_block()
        require_pairs(params_grads, Variable)
        averaged = self._chosen([parameter for parameter, _ in params_grads])
        running = self._checked(params_grads, averaged)
        begin = len(block.ops)
        ops = self.optimizer.apply_gradients(params_grads)
        with op_role_guard(OPTIMIZE), device_guard(self._device()):
            rows = self._rows(params_grads, ops)
            for average in running:
                average.begin()
                for parameter in averaged:
                    average.add(parameter, parameter.name in rows)
                for buffer in _buffers(block.program) if self.buffers == "average" else ():
                    average.add(buffer, False)
            self._append(block, ops, begin, running, averaged, rows)
        self.averages = AverageSwapper(block.program, running, self._device())
        self.note(params_grads)
        return ops

    def config_values(self, parameter: Parameter | None) -> dict[str, Any]:
        """If a gradient is not finite, the object rejects or skips the update, according to non_finite."""
        averaging = self.averaging_values(parameter)
        if not isinstance(self.optimizer, Minimizer):
            raise ProgramError(f"{type(self.optimizer).__name__} is not an optimizer of the C library")
        values = self.optimizer.config_values(parameter)
        if not averaging:
            return values
        if "l1_rate" in values or "l2_rate" in values:
            values["row_policy"] = "LikeZeros"  # averages of rows continue while no gradient names them
        return {**values, "averaging": averaging, "nan_policy": "Refuse" if self.non_finite == "raise" else "Skip"}

    def averaging_values(self, parameter: Parameter | None) -> list[dict[str, Any]]:
        if self.buffers == "average":
            raise ProgramError(
                "ParameterAverage: an object of the C library has a parameter and no buffers to average; write buffers='copy'"
            )
        if self.place not in (None, CPUPlace()):
            raise ProgramError(f"ParameterAverage: place is {shown(self.place)}, an object of the C library is on the CPU")
        if parameter is not None and not self._averages(parameter):
            return []
        averages = [RunningAverage(scheme, self.every, self.start_step, False) for scheme in self.schemes]
        if parameter is not None:
            for average in averages:
                average.check(parameter, False)
        return [average.config_values() for average in averages]

    def _averages(self, parameter: Parameter) -> bool:
        return parameter.do_model_average if self._wanted is None else parameter.name in self._wanted

    def _checked(self, pairs: Pairs, averaged: list[Parameter]) -> list[RunningAverage]:
        """The averages, if their schemes suit all parameters; nothing is appended yet."""
        sparse = {
            parameter.name for parameter, gradient in pairs if gradient.kind == dtypes.SELECTED_ROWS and self._leaves_other_rows()
        }
        running = [RunningAverage(scheme, self.every, self.start_step, self.non_finite == "raise") for scheme in self.schemes]
        for average in running:
            for parameter in averaged:
                average.check(parameter, parameter.name in sparse)
        return running

    def _leaves_other_rows(self) -> bool:
        return getattr(chain(self.optimizer)[-1], "leaves_other_rows", False)

    def _rows(self, pairs: Pairs, ops: list[Operator]) -> dict[str, Variable]:
        """The sparse gradients of parameters that are averaged row by row, by the parameter's name: those whose
        operator takes selected rows, which a regularizer or GradientMerge may have made dense, and leaves other rows. Tables of
        16 bits are averaged as a whole: their averages are float32."""

        def accepts_selected_rows(op: Operator) -> bool:
            gradients = [op.block.find_var(name) for name in op.input("Grad")]
            return any(gradient is not None and gradient.kind == dtypes.SELECTED_ROWS for gradient in gradients)

        gradients = {parameter.name: gradient for parameter, gradient in pairs}
        names = [op.input("Param")[0] for op in ops if accepts_selected_rows(op)] if self._leaves_other_rows() else []
        return {name: gradients[name] for name in names if average_dtype(gradients[name]) == gradients[name].dtype}

    def _append(
        self,
        block: Block,
        ops: list[Operator],
        begin: int,
        running: list[RunningAverage],
        averaged: list[Parameter],
        rows: dict[str, Variable],
    ) -> None:
        """Averages of rows come before the optimizer's operators, the first of which is at `begin`, all others behind;
        weights as early as they are known, so that optimizer and average can run part by part (cpp/executor/fuse.h)."""
        updated = updated_by(self.optimizer)
        known = updated is None and self.non_finite == "raise"
        changes = {op.input("Param")[0]: op for op in ops if op.input("Param") and op.block is block}

        def before(name: str) -> Callable[..., Any]:
            op = changes.get(name)  # not there: in an inner block
            return partial(block.insert_op, begin if op is None else op.index)

        for average in running:
            average.append_rows(before, rows)
        for average in running if known else ():
            average.append_weight(partial(block.insert_op, begin))
        finite = self._finite(block, averaged, rows) if self.non_finite == "skip" else None
        for average in running:
            if not known:
                average.append_weight(block.append_op, updated, finite)
            average.append_averages(block.append_op)

    def _device(self) -> str | None:
        return None if self.place is None else self.place.name

    def _chosen(self, changed: list[Parameter]) -> list[Parameter]:
        masters = masters_of(self.optimizer)
        changed = [masters.get(parameter.name, parameter) for parameter in changed]
        by_name = {parameter.name: parameter for parameter in changed}
        # An optimizer of the user may change variables of other classes than Parameter.
        by_name |= {rounded.name: one for one in changed if (rounded := getattr(one, "rounded", None)) is not None}
        if self._wanted is None:
            chosen = [parameter for parameter in changed if self._averages(parameter)]
        else:
            unknown = [name for name in self._wanted if name not in by_name]
            if unknown:
                raise ProgramError(
                    f"'{printable(unknown[0])}' is not a parameter that the optimizer changes; those are {', '.join(by_name)}"
                )
            # One that is named twice has one average: two could not be swapped in for it at once.
            chosen = list({by_name[name].name: by_name[name] for name in self._wanted}.values())
        if not chosen:
            raise ProgramError("no parameter to average")
        return sorted(chosen, key=lambda parameter: parameter.name)

    @staticmethod
    def _finite(block: Block, averaged: list[Parameter], rows: dict[str, Variable]) -> Variable:
        """Whether all parameters are finite; of tables that are averaged row by row, whether the gradients are."""
        main, found = block.program, []
        for dtype in sorted({parameter.dtype for parameter in averaged}):
            inputs: list[Any] = []
            for parameter in averaged:
                if parameter.dtype != dtype:
                    continue
                if parameter.name not in rows:
                    inputs.append(parameter)
                    continue
                values = main.new_name(f"{parameter.name}.touched")
                block.append_op("get_tensor_from_selected_rows", {"X": rows[parameter.name]}, {"Out": values})
                inputs.append(values)
            name = main.new_name("all_finite")
            block.append_op("all_finite", {"X": inputs}, {"Out": name})
            found.append(name)
        while len(found) > 1:
            both = main.new_name("all_finite")
            block.append_op("logical_and", {"X": found.pop(), "Y": found.pop()}, {"Out": both})
            found.append(both)
        return block.var(found[0])


def _schemes(scheme: Schemes | None, window_size: Lengthy | None, every: int) -> list[Scheme]:
    if scheme is None and window_size is None:
        raise ProgramError(
            "ParameterAverage has no scheme: give window_size=1000, or a scheme such as paddle_mini.averaging.Exponential(0.999)"
        )
    if scheme is not None and window_size is not None:
        raise ProgramError(
            f"ParameterAverage has a scheme and window_size={shown(window_size)}: give one of them; window_size=n is short for "
            "Window(n), and a list has several schemes"
        )
    if scheme is None:
        schemes: list[Any] = [Window(window_size)]
    else:
        schemes = list(scheme) if isinstance(scheme, (list, tuple)) else [scheme]
    for one in schemes:
        if not isinstance(one, Scheme):
            raise ProgramError(
                f"scheme is {shown(one)}, it must be one of paddle_mini.averaging, such as Window(n), Uniform() "
                "or Exponential(decay)"
            )
    if not schemes:
        raise ProgramError("scheme is an empty list")
    meant = [replace(one, every=one.every_of(every)) if isinstance(one, Latest) else one for one in schemes]
    twice = next((one for i, one in enumerate(schemes) if meant[i] in meant[:i]), None)
    if twice is not None:
        raise ProgramError(f"{shown(twice)} is listed twice")
    return schemes


def _buffers(main: Program) -> list[Variable]:
    """State of the model's operators between runs: floats that they both read and write."""
    names: list[str] = []
    block = main.global_block()
    for op in block.ops:
        if op.attr("op_role", 0) & ~LOSS:
            continue
        for name in op.output_names:
            if name in op.input_names and block.vars[name].persistable and name not in names:
                names.append(name)
    return [block.vars[name] for name in names if block.vars[name].dtype in dtypes.FLOAT_NAMES]
