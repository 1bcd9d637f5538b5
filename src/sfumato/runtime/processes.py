"""The launcher: the only place that starts processes, and the first code they run.

Every other room writes a function that answers a `ParentProcess`, and starts a process for it with `start`,
`borrowed` or `read_in_child`. The pool of workers (`runtime.pool`) is built on these.

What is guaranteed
    - *No child imports anything from the current folder*, nor from that of the data or the project. It runs
      the sfumato of its parent, wherever it is started.
    - *No child outlives its parent*, however the parent ends.
    - *Ctrl-C is the parent's business.* A child never sees it; its parent ends it.
    - *A child that dies takes only its own work with it*, and says how it died.
    - *Messages are unpickled only from pipes to our own children, or to our parent* (`runtime.messages`).

Why that is right
    - Python is started with ``-P``, so it puts no folder of its own on ``sys.path``, and with a
      ``PYTHONPATH`` of absolute folders only, so not even ``sitecustomize`` comes from the current folder.
      ``PYTHONSAFEPATH`` says the same to what a library starts in turn. The package is loaded from the very
      files that the parent runs. The folders that the parent has added, such as that of a user's script, come
      in the first message: `runtime.import_path` says which.
    - On Linux, workers are forked from a *template*, a child that has imported what they all need, has one
      thread (a fork copies one), and knows nothing of the data. Other systems' own libraries may not bear a
      fork: there every child is started.
    - A child listens to its parent in a thread. When its parent has gone, the system closes the pipe, and the
      child ends as soon as that thread runs; compiled code that holds the interpreter delays it. Our ends of
      the pipes are closed on ``exec``, so only a copy of the parent that somebody forks holds them, too.
    - A child inherits Ctrl-C blocked, and ignores it in its first line.
    - Only the template waits for a worker, when its parent kills it: until then no other process gets its
      number. If the template has died, the parent hangs up, and the worker ends by that.

What it costs
    A start takes Python's own time and that of what is imported: 0.1 s for a reader of files, 1 s for a
    template, and 0.01 s for a worker that is forked from it. A message is pickled once and copied twice.
    Each child costs its parent a thread that waits.
"""

from __future__ import annotations

import atexit
import os
import queue
import runpy
import signal
import socket
import struct
import subprocess
import sys
import threading
import types
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from sfumato.runtime.errors import SfumatoError, UserError
from sfumato.runtime.import_path import environment_of_children, folders_to_hand_on, main_of_user
from sfumato.runtime.messages import Garbled, MessagePipes, Packed, pickled, unpickled

PATIENCE = 5.0
"""How many seconds a child has to end by itself."""
START_LIMIT = 300.0
"""How many seconds a child may take to start, on however busy a machine, before its time is counted."""
SECONDS_TO_READ, _BYTES_IN_A_SECOND = 60, 100_000
"""Seconds of a processor that reading any file may take, and of how many bytes more each further one is."""
# Each thread takes a stack of 8 MB, and 64 MB of addresses for a heap of its own; Arrow's usual allocator
# takes 1 GB at once. All of that counts towards a limit on addresses, though hardly any of it is ever used.
_RESERVES_LITTLE = {
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
    **dict.fromkeys(("POLARS_MAX_THREADS", "ARROW_IO_THREADS", "MALLOC_ARENA_MAX"), "1"),
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}
"""The environment of a child whose memory is limited: one thread and one heap."""

_GUARD = 'begin its work under `if __name__ == "__main__":`'

Killed = Callable[[], "int | None"]
"""Kills a process, and returns how it ended: its exit code, or minus the number of a signal, if known."""
Serve = Callable[["ParentProcess"], None]
"""What a child does: it answers its parent, and then returns. It is a function of a module."""

# The package is loaded from the parent's files and not by its name: no folder needs to be on the path for it.
_FIRST_LINES = """
import sys
from importlib.util import module_from_spec, spec_from_file_location
place = sys.argv[1]
spec = spec_from_file_location("sfumato", place + "/__init__.py", submodule_search_locations=[place])
sys.modules["sfumato"] = package = module_from_spec(spec)
spec.loader.exec_module(package)
from sfumato.runtime import processes
processes.main(*sys.argv[2:])
"""
_PACKAGE = str(Path(__file__).resolve().parents[1])

_CAN_FORK = sys.platform.startswith("linux")
_SHOWN = subprocess.DEVNULL if sys.__stderr__ is None else None
"""Where errors are shown; a process without a standard error may have given its number to another file."""
_is_child = _runs_main = False
_path_at_start = list(sys.path)


def is_child() -> bool:
    """Return whether this process was started here, so that its parent speaks to the user."""
    return _is_child


@dataclass(frozen=True)
class _Start:
    """The first message to a child, before it imports anything: what it needs to understand others."""

    environment: dict[str, str]
    folders: list[str]
    arguments: list[str]
    main: str | None
    is_module: bool
    serve: bytes


@dataclass(frozen=True)
class _Folders:
    """A message to a child: where to look for modules from now on."""

    folders: list[str]


_DISMISSAL = b""
"""The last message to a child, which asks it to end by itself."""


@dataclass(frozen=True)
class Started:
    """The first message of a child: its number."""

    process: int


class Ended(Exception):
    """What is heard last of a child; raised where it has ended instead of saying something."""


Inbox = queue.SimpleQueue[tuple["Child", Any]]
"""What children have said; `Garbled` for what cannot be understood."""


class Child:
    """A process that was started here, as its parent sees it."""

    def __init__(self, killed: Killed, connection: MessagePipes, inbox: Inbox | None = None) -> None:
        self.owner = os.getpid()
        self.pid = 0
        self.exit_code: int | None = None
        self.is_killed = self.has_ended = False
        self.holds = ""
        """What it was given to keep, in the words of whoever gave it."""
        self._killed, self._connection = killed, connection
        self._inbox: Inbox = queue.SimpleQueue() if inbox is None else inbox
        self._may_work = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        message: Any
        # the last of these is raised where a message is larger than the memory
        with suppress(EOFError, OSError, ValueError, MemoryError):
            while True:
                try:
                    message = unpickled(self._connection.receive_pickled())
                except Garbled as error:
                    message = error
                if isinstance(message, Started):
                    self.pid = message.process
                    self._may_work.set()
                self._inbox.put((self, message))
        self.give_up()

    def give_up(self) -> None:
        """Take it to have ended."""
        self._may_work.set()
        self._inbox.put((self, Ended()))

    def send(self, message: object) -> None:
        """Send a message; a child that has ended does not hear it, which `receive` will say."""
        self.send_pickled(pickled(message))

    def send_pickled(self, message: bytes) -> None:
        """Send a message that was pickled before, for several children to whom the same is said."""
        with suppress(OSError, ValueError):
            self._connection.send_pickled(message)

    def receive(self, seconds: float | None = None) -> Any:
        """Wait for the next message; what it sends of our own exceptions is raised.

        Raises
        ------
        Ended
            If the child has ended, or says what cannot be understood.
        TimeoutError
            If it says nothing in so many seconds.
        UserError
            If it cannot import what it was started for.
        """
        message: Any = Started(0)
        while isinstance(message, Started):
            try:
                _, message = self._inbox.get(timeout=None if seconds is None else max(seconds, 0.0))
            except queue.Empty:
                raise TimeoutError from None
        if isinstance(message, SfumatoError):
            raise message
        if isinstance(message, Ended | Garbled):
            self.give_up()  # so that it is heard again when somebody asks again
            raise Ended
        return message

    def wait_until_started(self) -> None:
        """Wait until it has imported what it needs, or has ended."""
        self._may_work.wait(START_LIMIT)

    @property
    def is_alive(self) -> bool:
        """Whether it has not ended yet."""
        return not self.has_ended and self._reader.is_alive()

    def dismiss(self) -> None:
        """Ask it to end by itself."""
        self.send_pickled(_DISMISSAL)

    def kill(self) -> None:
        """Kill it, unless it has ended, and remember how it ended."""
        if self.is_killed or self.owner != os.getpid():  # this may be a copy of its parent
            return
        with interrupts_held_back():
            self.is_killed = True
            self.exit_code = self._killed()
            self._connection.hang_up()

    def end(self, patience: float = 0.0) -> None:
        """End it, after so many seconds at the latest, and close the pipes."""
        if self.has_ended or self.owner != os.getpid():
            return
        self._reader.join(patience)
        self.kill()
        self.has_ended = True
        # something that it has started in turn may hold its pipe open
        self._reader.join(PATIENCE)
        self._connection.close()


def start(
    serve: Serve,
    *,
    preload: str = "",
    runs_main: bool = False,
    new_session: bool = False,
    environment: dict[str, str] | None = None,
    inbox: Inbox | None = None,
) -> Child:
    """Start a process. What it prints goes to standard error, so that it is no message.

    Parameters
    ----------
    serve
        What it does.
    preload
        A module that is imported only once for many processes, where these can be forked.
    runs_main
        Whether it runs the user's script first, so that methods that are defined there are known. Only then
        its standard error is shown: what libraries write there may show a value.
    new_session
        Whether it is alone in its session, and hears nothing from the terminal.
    environment
        Variables that it has beside those of this process.
    inbox
        Where what it says is put; by default in one of its own.

    Examples
    --------
    >>> child = start(echo)
    >>> child.send("hello")
    >>> child.receive()
    'hello'
    >>> child.end()
    """
    if _runs_main:
        raise UserError(f"workers run the script, too, which would start workers again; {_GUARD}")
    variables = {**environment_of_children(), **(environment or {})}
    main, is_module = main_of_user() if runs_main else (None, False)
    first = _Start(variables, folders_to_hand_on(), sys.argv, main, is_module, pickled(serve))
    with interrupts_held_back():
        if preload and _CAN_FORK:
            killed, connection = _template_of(preload).fork()
        else:
            killed, connection = _opened(variables, shows_errors=runs_main, new_session=new_session)
        child = Child(killed, connection, inbox)
        child.send(first)
    return child


def echo(parent: ParentProcess) -> None:
    """Say everything that is said, until there is nothing more."""
    with suppress(EOFError):
        while True:
            parent.send(parent.receive())


def _command(*arguments: str) -> list[str]:
    # what this process was told to ignore, its children ignore, too
    ignored = ["-E"] * sys.flags.ignore_environment + ["-s"] * sys.flags.no_user_site
    return [sys.executable, "-P", *ignored, "-c", _FIRST_LINES, _PACKAGE, *arguments]


def _opened(
    environment: dict[str, str], *, shows_errors: bool, new_session: bool
) -> tuple[Killed, MessagePipes]:
    """Start Python from its beginning."""
    process = subprocess.Popen(
        _command(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=_SHOWN if shows_errors else subprocess.DEVNULL,
        bufsize=0,
        start_new_session=new_session,
        env=environment,
    )

    def killed() -> int:
        process.kill()
        return process.wait()

    return killed, MessagePipes(process.stdout, process.stdin)  # type: ignore[arg-type]


# --- workers that are forked ---

_REQUEST = struct.Struct("!cQ")
"""To fork a process that has a number of ours, or to kill the one that has it."""
_FORK, _KILL = b"f", b"k"
_EXIT_CODE = struct.Struct("!q")
"""The answer to the latter."""


class _Template:
    """The process that workers are forked from, as its parent sees it. Linux only."""

    def __init__(self, preload: str) -> None:
        self.owner, self.preload, self._n_forked = os.getpid(), preload, 0
        self._lock = threading.Lock()
        # one request is one packet: it comes as a whole, with the pipes that belong to it
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                _command(preload),
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=_SHOWN,
                env=environment_of_children(),
            )

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def fork(self) -> tuple[Killed, MessagePipes]:
        """Ask for a process; it begins when the template has imported everything."""
        their_input, our_output = os.pipe()
        our_input, their_output = os.pipe()
        # the folder of this moment, also where somebody has removed it, or one may not enter it
        folder = os.open("/proc/self/cwd", os.O_PATH | os.O_CLOEXEC)
        with self._lock:
            self._n_forked += 1
            number = self._n_forked
            with suppress(OSError):  # the template has just died: the pipes say so
                request = _REQUEST.pack(_FORK, number)
                socket.send_fds(self._socket, [request], [their_input, their_output, folder])
        for descriptor in (their_input, their_output, folder):
            os.close(descriptor)
        connection = MessagePipes(os.fdopen(our_input, "rb", 0), os.fdopen(our_output, "wb", 0))
        return partial(self._killed, number), connection

    def _killed(self, number: int) -> int | None:
        with self._lock, suppress(OSError, struct.error):  # the template has died: nobody knows
            self._socket.send(_REQUEST.pack(_KILL, number))
            return int(_EXIT_CODE.unpack(self._socket.recv(_EXIT_CODE.size))[0])
        return None

    def stop(self) -> None:
        """Let it end before this process, which then answers for its time."""
        if self.owner == os.getpid():
            with suppress(OSError):  # closing alone would not do where a copy of this process holds it, too
                self._socket.shutdown(socket.SHUT_RDWR)
            self._process.wait()
        self._socket.close()


_template: _Template | None = None
_lock = threading.Lock()


def _template_of(preload: str) -> _Template:
    """Return the template of this process, a new one where the last has ended."""
    global _template
    with _lock:
        known = _template
        if known is not None and (known.owner, known.preload) == (os.getpid(), preload) and known.is_alive:
            return known
        stop_template()
        _template = _Template(preload)
        return _template


@atexit.register
def stop_template() -> None:
    """End the process that workers are forked from; the next worker has a new one."""
    global _template
    if _template is not None:
        _template.stop()
    _template = None


def _fork_on_request(preload: str, requests: socket.socket) -> None:
    """Fork a process for each request, until nobody asks any more. This process must have one thread only."""
    import_module(preload)
    pids: dict[int, int] = {}
    while True:
        packet, pipes, *_ = socket.recv_fds(requests, _REQUEST.size, 3)
        if not packet:
            return
        request, number = _REQUEST.unpack(packet)
        if request == _KILL:
            code = 255
            if pid := pids.pop(number, 0):  # it may have ended; its number is its own until it is waited for
                os.kill(pid, signal.SIGKILL)
                code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            requests.send(_EXIT_CODE.pack(code))
            continue
        with suppress(OSError):  # there is no room for another process: its pipes are closed, and say so
            pid = os.fork()
            if pid == 0:
                _serve_forked(requests, *pipes)
            pids[number] = pid
        for descriptor in pipes:
            os.close(descriptor)


def _serve_forked(requests: socket.socket, reading: int, writing: int, folder: int) -> None:
    """Be a worker; whatever happens, never return into the loop of the template."""
    code = 1
    try:
        requests.close()
        with suppress(OSError):  # one may be in a folder that one may not enter
            os.fchdir(folder)
        os.close(folder)
        code = _serve(reading, writing)
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
    except BaseException as error:
        sys.excepthook(type(error), error, None)
    finally:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


# --- what a child does ---


class ParentProcess:
    """The process that has started this one, as this one sees it."""

    def __init__(self, connection: MessagePipes) -> None:
        self._connection = connection
        self._inbox: queue.SimpleQueue[bytes | bytearray] = queue.SimpleQueue()
        self._when_left: Callable[[], None] = lambda: os._exit(1)
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        try:
            while message := self._connection.receive_pickled():
                self._inbox.put(message)
        except (EOFError, OSError, MemoryError):
            self._when_left()
        self._inbox.put(_DISMISSAL)

    def when_left(self, do: Callable[[], None]) -> None:
        """Do something else than to end at once when the parent has gone; then it has nothing more to say."""
        self._when_left = do

    def receive(self) -> Any:
        """Wait for the next message; `EOFError` where there is none any more."""
        while message := self._inbox.get():
            received = unpickled(message)
            if not isinstance(received, _Folders):
                return received
            _look_in(received.folders)
        self._inbox.put(_DISMISSAL)
        raise EOFError

    def send(self, message: object) -> None:
        """Say something; `OSError` where the parent has gone."""
        self._connection.send(message)


def main(preload: str = "") -> None:
    """Be a child, or the template of some that has imported a module."""
    global _is_child
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    _is_child = True
    reading, writing = os.dup(0), os.dup(1)
    # what a library asks or prints is none of our messages
    with open(os.devnull) as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    if not preload:
        sys.exit(_serve(reading, writing))
    # whoever asked last may have gone before the answer
    with socket.socket(fileno=reading) as requests, suppress(ConnectionError):
        _fork_on_request(preload, requests)


def _serve(reading: int, writing: int) -> int:
    # closed by the system alone: a parent that sees the end of the pipe ends what has not ended yet
    pipes = os.fdopen(reading, "rb", 0, closefd=False), os.fdopen(writing, "wb", 0, closefd=False)
    parent = ParentProcess(MessagePipes(*pipes))
    try:
        serve = _prepared(parent.receive())
    except SfumatoError as error:
        parent.send(error)
        return 1
    except Garbled as error:
        what = f"the module {error.name!r}" if error.name else "what it is to do"
        parent.send(
            UserError(
                f"a worker cannot import {what}: workers do not look into the current folder; install the "
                "module, or name its folder in PYTHONPATH by an absolute path"
            )
        )
        return 1
    parent.send(Started(os.getpid()))
    serve(parent)
    return 0


def _prepared(first: _Start) -> Serve:
    """Make this process like its parent: environment, path, script. Return what it is to do."""
    os.environ.clear()
    os.environ.update(first.environment)
    _look_in(first.folders)
    sys.argv[:] = first.arguments
    if first.main is not None:
        _run_again(first.main, is_module=first.is_module)
    serve: Serve = unpickled(first.serve)
    return serve


def _run_again(main: str, *, is_module: bool) -> None:
    """Run what the user has started, so that unpickling finds here what it defines, in the main module.

    Its name is ``__mp_main__`` then, as with Python's own multiprocessing, so that what stands under
    ``if __name__ == "__main__"`` is left out. Without that it would start workers, which would run it again.
    """
    global _runs_main
    _runs_main = True
    names: dict[str, Any] = {}
    try:
        if is_module:
            names = runpy.run_module(main, run_name="__mp_main__", alter_sys=True)
        else:
            names = runpy.run_path(main, run_name="__mp_main__")
    except ImportError as error:
        raise Garbled(type(error).__name__, error.name or main) from error
    except OSError:  # it came through a pipe and is gone; perhaps nothing of it is needed
        pass
    except SfumatoError:
        raise
    except (Exception, SystemExit) as error:
        raise UserError(f"{main} raises {type(error).__name__} when a worker runs it; {_GUARD}") from error
    _runs_main = False
    module = types.ModuleType("__mp_main__")
    module.__dict__.update(names)
    sys.modules["__main__"] = sys.modules["__mp_main__"] = module


def _look_in(folders: list[str]) -> None:
    """Look for modules where the parent does, in its order, and then where this process did at first."""
    sys.path[:] = list(dict.fromkeys([*folders, *_path_at_start]))


# --- ways to use a child ---

_idle: dict[Serve, list[Child]] = {}


@contextmanager
def borrowed(serve: Serve, environment: dict[str, str] | None = None) -> Generator[Child]:
    """Lend a child that waits for work, or start one; it is kept for the next time if it still lives then.

    It is killed where anything is raised inside, as by Ctrl-C: it may be in the middle of something.
    """
    child = _waiting(serve) or start(serve, environment=environment)
    try:
        child.wait_until_started()
        child.send(_Folders(folders_to_hand_on()))
        yield child
    except BaseException:
        child.end()
        raise
    if not child.is_alive:
        child.end()
        return
    with _lock:
        _idle.setdefault(serve, []).append(child)


def _waiting(serve: Serve) -> Child | None:
    with _lock:
        children = _idle.get(serve, [])
        while children:
            # those of the process that this one was forked from do not live here
            if (child := children.pop()).is_alive:
                return child
            child.end()
    return None


@atexit.register
def end_idle() -> None:
    """End the children that wait for work."""
    with _lock:
        for children in _idle.values():
            for child in children:
                child.end()
        _idle.clear()


def read_in_child(
    read: Callable[..., Any], path: Path, most_memory: int, packed: Packed | None = None
) -> Any:
    """Return what a function reads from a file; nothing where its process ends or would take too much.

    A few bytes of a damaged file may end the process that reads it with a library in another language, or
    claim all memory of the machine.

    Parameters
    ----------
    read
        A function of a module whose ``LIBRARIES`` names what it needs: those that are installed are loaded
        before memory is limited.
    path
        The file.
    most_memory
        How many bytes the process may take beside what it takes to start.
    packed
        What else the function is given. What that imports does not count as memory either.
    """
    child = start(answer_with_contents, environment=_RESERVES_LITTLE)
    try:
        seconds = SECONDS_TO_READ + path.stat().st_size // _BYTES_IN_A_SECOND
        child.send((read.__module__, read.__name__, path, packed, most_memory, seconds))
        # one that waits for ever, as some libraries do when there is no room for a thread, takes no processor
        return child.receive(START_LIMIT + seconds)
    except (Ended, TimeoutError):
        return None
    finally:
        child.end()


def answer_with_contents(parent: ParentProcess) -> None:
    """Read a file within limits, and say what it holds."""
    module, name, path, packed, most_memory, seconds = parent.receive()
    home = import_module(module)
    for library in home.LIBRARIES:
        with suppress(ImportError):
            import_module(library)
    more = () if packed is None else (packed.unpacked(),)
    _limit(most_memory, seconds)
    parent.send(getattr(home, name)(path, *more))


def _limit(most_memory: int, most_seconds: int) -> None:
    try:
        import resource
    except ImportError:  # there is none on Windows
        return
    held = 0
    if (sizes := Path("/proc/self/statm")).exists():
        held = int(sizes.read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    for kind, most in (
        (resource.RLIMIT_AS, held + most_memory),
        (resource.RLIMIT_CPU, most_seconds),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def open_browser(address: str) -> None:
    """Show a page in the user's browser."""
    import webbrowser

    webbrowser.open(address)


@contextmanager
def interrupts_held_back() -> Iterator[None]:
    """Hold Ctrl-C back while children are started or killed, so that none is forgotten half-way.

    Children inherit the blocked signal, so that they never see one themselves. Another thread of this process
    may still catch one; it is remembered and raised again at the end.
    """
    arrived: list[int] = []
    usual = blocked = None
    # only the main thread may handle signals, and only a handler of Python's can be put back
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is not None:
        usual = signal.signal(signal.SIGINT, lambda number, _: arrived.append(number))
    if hasattr(signal, "pthread_sigmask"):
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        if blocked is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        if usual is not None:
            signal.signal(signal.SIGINT, usual)
        if arrived:
            signal.raise_signal(signal.SIGINT)
