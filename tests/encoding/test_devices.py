"""The GPUs as the driver lists them, without PyTorch; and how many workers share one."""

import ctypes
import subprocess
import sys

import pytest

from glassformer import GlassformerError
from glassformer.encoding import devices
from glassformer.encoding.jobs.computing import Task
from glassformer.encoding.jobs.pool import on_gpu, tasks_for

GB = 2**30


class Driver:
    """What the driver's library answers on a machine with GPUs of these sizes."""

    def __init__(self, memory, *, version=12080, fails=()):
        self.memory, self.version, self.fails = memory, version, fails

    def __getattr__(self, name):
        def call(*given):
            if name in self.fails:
                return 100  # CUDA_ERROR_NO_DEVICE
            if name == "cuDriverGetVersion":
                given[0]._obj.value = self.version
            elif name == "cuDeviceGetCount":
                given[0]._obj.value = len(self.memory)
            elif name == "cuDeviceGet":
                given[0]._obj.value = given[1]
            elif name == "cuDeviceTotalMem_v2":
                given[0]._obj.value = self.memory[given[1].value]
            return 0

        return call


@pytest.mark.parametrize(
    ("driver", "wanted"),
    [
        (Driver([80 * GB, 16 * GB]), (80 * GB, 16 * GB)),
        (Driver([80 * GB], version=11080), ()),  # too old for this PyTorch
        (Driver([80 * GB], fails=("cuInit",)), ()),
        (Driver([80 * GB], fails=("cuDeviceGet",)), ()),
        (None, ()),
    ],
)
def test_the_driver_is_requested_gpus(driver, wanted, monkeypatch):
    monkeypatch.setattr(devices, "_opened", lambda _: driver)
    assert devices._asked_driver(12) == wanted


def test_what_pytorch_was_built_for_is_read_from_its_file():
    text = "__version__ = '2.13.0+cu130'\ncuda: Optional[str] = '13.0'\nhip: Optional[str] = None\n"
    assert dict(devices.BUILT_FOR.findall(text)) == {"cuda": "13"}
    assert dict(devices.BUILT_FOR.findall(text.replace("'13.0'", "None"))) == {}
    assert dict(devices.BUILT_FOR.findall("cuda = None\nhip = '6.4.43482'\n")) == {"hip": "6"}


def test_pytorch_is_not_imported_to_list_the_gpus():
    code = "import sys; from glassformer.encoding.devices import device_for; print(device_for(None), 'torch' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.split()[1] == "False"


def test_a_device_that_is_not_there_is_refused(monkeypatch):
    monkeypatch.setattr(devices, "gpus", lambda: ())
    with pytest.raises(GlassformerError, match=r"--device cuda:1: no GPU is available\. Try --device cpu\."):
        devices.device_for("cuda:1")
    with pytest.raises(GlassformerError, match="--device tpu is not known: cpu or cuda"):
        devices.device_for("tpu")
    assert devices.device_for(None) == "cpu"
    assert ctypes.sizeof(ctypes.c_size_t) == 8  # bytes of a GPU's memory do not fit into less


@pytest.mark.parametrize(
    ("memory", "weights", "cores", "wanted"),
    [
        (140 * GB, 0.1 * GB, 16, 4),
        (140 * GB, 0.1 * GB, 8, 2),
        (140 * GB, 0.1 * GB, 2, 1),
        (16 * GB, 0.4 * GB, 16, 3),
        (24 * GB, 14 * GB, 64, 1),
    ],
)
def test_workers_share_a_gpu_if_cores_and_memory_allow(memory, weights, cores, wanted):
    assert on_gpu(memory, weights, cores) == wanted


def test_workers_are_spread_over_gpus(monkeypatch, tmp_path):
    (tmp_path / "config.json").write_text("{}")
    monkeypatch.setattr("glassformer.encoding.jobs.pool.gpus", lambda: (80 * GB, 80 * GB))
    monkeypatch.setattr("glassformer.encoding.jobs.pool.cores", lambda: 16)
    task = Task("encode", "parquet", device="cuda")
    assert [one.device for one in tasks_for(tmp_path, task, None)] == ["cuda:0", "cuda:1"] * 2
    assert [one.device for one in tasks_for(tmp_path, task, 3)] == ["cuda:0", "cuda:1", "cuda:0"]
    one = Task("encode", "parquet", device="cuda:1")
    assert [some.device for some in tasks_for(tmp_path, one, None)] == ["cuda:1"] * 4
