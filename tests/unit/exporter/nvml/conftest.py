from pathlib import Path

import pytest

from fakes.nvml_driver import NvmlDriver, build


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("nvml"))


@pytest.fixture(scope="session")
def old_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("old-nvml"), is_old=True)


@pytest.fixture
def driver(library: Path, tmp_path: Path) -> NvmlDriver:
    return NvmlDriver(library, tmp_path / "state")


@pytest.fixture
def old_driver(old_library: Path, tmp_path: Path) -> NvmlDriver:
    return NvmlDriver(old_library, tmp_path / "state")


@pytest.fixture
def no_driver(tmp_path: Path) -> NvmlDriver:
    return NvmlDriver(tmp_path / "empty", tmp_path / "state")
