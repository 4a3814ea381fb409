"""Lessons one after another: their kernels are forked from a process that is started once.

Each kernel is a process of its own, in which nothing has run; what ``preloaded.py`` names is there.
Where processes aren't forked safely, each is started as Jupyter does.
"""

import json
import multiprocessing
import os
import signal
import sys
from pathlib import Path

import run_notebook
from jupyter_client.provisioning import local_provisioner

SAFE = sys.platform == "linux"
FORKS = multiprocessing.get_context("forkserver" if SAFE else "spawn")


def be_kernel(arguments, folder, env, ready):
    """In the new process: a kernel as ``python -m ipykernel_launcher`` starts it."""
    os.setsid()
    os.environ.clear()
    # A kernel ends with its parent, and this is another than the one that asked for it.
    os.environ |= {**env, "JPY_PARENT_PID": str(os.getppid())}
    os.chdir(folder)
    ready.send(None)
    from ipykernel import kernelapp

    kernelapp.launch_new_instance(argv=arguments)


class Kernel:
    """A forked kernel, as Jupyter's client knows a process."""

    stdin = stdout = stderr = None

    def __init__(self, command, cwd, env, **_):
        ready, told = FORKS.Pipe(duplex=False)
        arguments = command[command.index("ipykernel_launcher") + 1 :]
        self.process = FORKS.Process(
            target=be_kernel, args=(arguments, cwd or ".", dict(env), told)
        )
        self.process.start()
        told.close()
        ready.recv()  # it leads a group of processes
        self.pid = self.process.pid

    def poll(self):
        return self.process.exitcode

    def wait(self):
        self.process.join()
        return self.process.exitcode

    def send_signal(self, number):
        os.kill(self.pid, number)

    def kill(self):
        self.send_signal(signal.SIGKILL)

    def terminate(self):
        self.send_signal(signal.SIGTERM)


def serve():
    """For each line of input, JSON of what ``run_notebook.main`` is given, a line of its answer."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    if SAFE:
        FORKS.set_forkserver_preload(["preloaded"])
        local_provisioner.launch_kernel = Kernel
    for line in sys.stdin:
        paths, *options = json.loads(line)
        os.chdir(Path(paths[0]).parent)
        try:
            found = run_notebook.main(paths, *options)
        except Exception as problem:  # of one notebook: a kernel that died or took too long
            found = [repr(problem)]
        print(json.dumps(found), file=answers, flush=True)
