"""What can go wrong, as types.

GputideError                what failed, on what, and what would mend it
├── SettingError            a flag, variable or field that a person gave is wrong
├── InputError              a file or an answer that a person pointed us at cannot be used
└── QueryError              the other side refused or failed; `is_retryable`: ask again
"""


class GputideError(Exception):
    """Anything that gputide itself raises; the command line prints it as one line.

    What a subclass is made from are its `args`, so that an error crosses processes as it is.

    `exit_code` is what the process ends with: 2 where the person has to change something, 1 where
    the world has to.
    """

    exit_code = 1


class SettingError(GputideError):
    """A setting is wrong: `setting` names the flag, variable or field, `problem` says why."""

    exit_code = 2

    def __init__(self, setting: str, problem: str) -> None:
        super().__init__(setting, problem)
        self.setting = setting
        self.problem = problem

    def __str__(self) -> str:
        return f"{self.setting}: {self.problem}"


class InputError(GputideError):
    """Input cannot be used: `place` names the file and line (or the query), `problem` says why."""

    exit_code = 2

    def __init__(self, place: str, problem: str) -> None:
        super().__init__(place, problem)
        self.place = place
        self.problem = problem

    def __str__(self) -> str:
        return f"{self.place}: {self.problem}"


class QueryError(GputideError):
    """A server refused or failed: `target` names it without secrets, `problem` says why."""

    exit_code = 2

    def __init__(self, target: str, problem: str, *, is_retryable: bool = False) -> None:
        super().__init__(target, problem)
        self.target = target
        self.problem = problem
        self.is_retryable = is_retryable

    def __str__(self) -> str:
        return f"{self.target}: {self.problem}"
