"""Progress of a fit: verbose output and scikit-learn's callbacks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .._inputs.array_api import raw
from .._inputs.arrays import Problem
from .._utils.typing import Array
from ..core.solvers import Step


class Progress:
    """Report finished parts of a fit."""

    def __init__(self, model: Any, *, max_subtasks: int | None = None) -> None:
        self.model = model
        self.verbose = bool(getattr(model, "verbose", False))
        self.context = None
        if getattr(model, "_skl_callbacks", None) or hasattr(model, "_parent_callback_ctx"):
            self.context = model._init_callback_context(max_subtasks=max_subtasks)
            self.context.call_on_fit_task_begin(estimator=model)

    def note(self, text: str, *, task: str | None = None, **state: Any) -> bool:
        """Report a finished part; return True if a callback wants the fit to stop.

        `task` is its name for callbacks, by default the text before a colon; `state` is what they
        may request.
        """
        if self.verbose:
            print(f"[{type(self.model).__name__}] {text}")  # noqa: T201 (`verbose` asks for it)
        if self.context is None:
            return False
        part = self.context.subcontext(task_name=task or text.partition(":")[0])
        part.call_on_fit_task_begin(estimator=self.model)
        return bool(part.call_on_fit_task_end(estimator=self.model, **state))

    def end(self) -> None:
        """Tell the callbacks that the fit is over."""
        if self.context is not None:
            self.context.call_on_fit_task_end(estimator=self.model)


class StepProgress(Progress):
    """Progress of a solver, which calls it with every step; it also records the path."""

    def __init__(self, model: Any, problem: Problem) -> None:
        super().__init__(model)
        self.problem = problem
        self.path: list[Step] = []

    @property
    def callback(self) -> StepProgress | None:
        """The callback for a solver: None if its steps are not needed."""
        wanted = self.model.record_path or self.verbose or self.context is not None
        return self if wanted else None

    def __call__(self, step: Step) -> bool:
        if self.model.record_path:
            self.path.append(replace(step, w=self.problem.paper_weights(step.w)))
        text = f"step {step.iteration}: J = {step.value:.10g}, {step.changed} rows changed"
        if passes := self.problem.rows.passes:
            last = passes[-1]
            text += f"; pass of {last.seconds:.2g} s, {last.bytes_sent / 1e6:.2g} MB sent"
        return self.note(text, task="step", **self._state(step.w))

    def _state(self, w: Array) -> dict[str, Any]:
        """Return what callbacks may request: the labeled rows, and the model at this step."""
        problem = self.problem
        labels = problem.labels

        def attributes() -> dict[str, Any]:
            coef, intercept = map(problem.place.put, problem.to_user(w))
            classes = problem.y_place.put(problem.classes)
            return {"coef_": coef, "intercept_": intercept, "classes_": classes}

        return {
            "X": lambda: raw(problem.X[labels.labeled]),
            "y": lambda: problem.y_place.put(labels.classes[labels.codes]),
            "reconstruction_attributes": attributes,
        }
