"""Beam search of translations on a GPU: every step reads and writes the same memory, so it is recorded once and replayed.

Three things keep the GPU busy. No step waits for a result: which texts are finished is copied asynchronously and read two
steps later. A step is launched as one CUDA graph, for each of a few numbers of texts. And no cache is copied when beams are
reordered: each row has a list of the slots of its keys and values.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import accumulate
from typing import Any, NamedTuple

import torch
from torch import Tensor

from glassformer.checkpoints.special_tokens import Tokens
from glassformer.model.attention import Context
from glassformer.model.boundary.seq2seq import Seq2Seq
from glassformer.model.encoder import Inputs
from glassformer.model.fast.step_attention import ListedCore, step_kernel_serves
from glassformer.model.generation.beams import Search, State
from glassformer.model.generation.decoding import Decoding
from glassformer.model.generation.search import Found
from glassformer.model.generation.settings import Choice
from glassformer.model.generation.source_decoding import look
from glassformer.model.variants.relative import ByDistance

BEHIND = 2  # steps after which the host reads which texts are done
SIZES = sorted({*(2**n for n in range(21)), *(3 * 2**n for n in range(20))})  # numbers of texts for which steps are recorded
READ_AT_ONCE = 4096  # tokens of sources, with padding
LONGEST = 1024  # new tokens for which memory is taken at once


def serves(model: Seq2Seq, choice: Choice) -> bool:
    """Whether this search can run so: on a GPU, with a decoder whose attention adds nothing to its scores."""
    spec = model.spec.decoder
    plain = spec.score_cap is None and not spec.rotary and not isinstance(model.decoder.buckets, ByDistance)
    plain = plain and all(place.rule.window is None for place in model.decoder.places)
    fits = choice.beams > 1 and choice.max_new_tokens <= LONGEST
    return fits and plain and step_kernel_serves(model.here, spec.head_k, spec.head_v)


class Room(NamedTuple):
    """What the memory of a search holds."""

    texts: int
    source: int  # tokens of all sources together


class Memory:
    """Everything that a step reads and writes, for at most so many texts; a step for fewer uses the first rows."""

    def __init__(self, model: Seq2Seq, search: Search, room: Room) -> None:
        spec, here = model.spec.decoder, model.here
        rows, slots = room.texts * search.choice.beams, search.most
        self.room, self.rows = room, rows
        self.state = search.start(room.texts)
        self.at = torch.zeros(1, dtype=torch.int64, device=here.device)
        self.where_NS = torch.zeros((rows, slots), dtype=torch.int32, device=here.device)
        self.starts_N, self.lengths_N = (torch.zeros(rows, dtype=torch.int32, device=here.device) for _ in range(2))
        widths = (spec.head_k, spec.head_v)

        def caches(places: int) -> list[list[Tensor]]:
            return [[here.new_zeros((places, spec.key_heads, width)) for width in widths] for _ in range(spec.layers)]

        self.written, self.read = caches(slots * rows), caches(room.source)  # by layer: keys, values

    def first(self, texts: int) -> State:
        """The rows of the state for some texts."""
        return State.of([one[:texts] for one in self.state.tensors])

    def take(self, state: State) -> None:
        """Make this the state of the first texts."""
        for own, one in zip(self.first(len(state.done)).tensors, state.tensors, strict=True):
            own.copy_(one)


class SteadySearch:
    """Translates batch after batch with the same memory and the same recorded steps."""

    def __init__(self, model: Seq2Seq, choice: Choice, tokens: Tokens) -> None:
        self.model, self.choice, self.tokens = model, choice, tokens
        self.search = Search(choice, tokens, model.here.device)
        self.decoder = Decoding(model.decoder)
        self.memory: Memory | None = None
        self.recorder = Recorder(model.here.device)

    def memory_for(self, texts: int, source: int) -> Memory:
        """Memory with room for so much; recorded steps know its addresses."""
        room = Room(*(SIZES[bisect_left(SIZES, count)] for count in (texts, source)))
        had = Room(0, 0) if self.memory is None else self.memory.room
        if self.memory is None or room.texts > had.texts or room.source > had.source:
            self.recorder, self.memory = Recorder(self.model.here.device), None
            self.memory = Memory(self.model, self.search, Room(max(room.texts, had.texts), max(room.source, had.source)))
        return self.memory

    @torch.inference_mode()
    def translate(self, sources: Sequence[Sequence[int]]) -> list[Found]:
        """The translation of each source; sources are sorted, long ones first."""
        memory = self.memory_for(len(sources), sum(map(len, sources)))
        width = self.begin(memory, sources)
        numbers, flags = list(range(len(sources))), Flags(memory)
        left: list[tuple[list[int], State]] = []  # texts that are done
        for number in range(self.search.most):
            going = flags.going(len(numbers))
            if going is not None:
                if not going:
                    break
                smaller = SIZES[bisect_left(SIZES, len(going))]
                if smaller < width:
                    left.append((numbers, State.of([one[: len(numbers)].clone() for one in memory.state.tensors])))
                    self.keep(memory, going, smaller)
                    numbers, width = [numbers[place] for place in going], smaller
                    flags.forget()
            self.recorder.run(partial(self.step, memory, width), width, recorded=0 < number < self.search.most - 1, number=number)
            flags.ask(width)
        left.append((numbers, memory.first(len(numbers))))
        found: dict[int, Found] = {}
        for some, state in left:  # a text that went on is overwritten by what was found later
            found.update(zip(some, self.search.best(state), strict=True))
        return [found[number] for number in range(len(sources))]

    def begin(self, memory: Memory, sources: Sequence[Sequence[int]]) -> int:
        """Read the sources; return the number of texts that have rows: additional texts repeat the last one."""
        states_MD = torch.cat(list(self.encoded(sources)))
        for place, read in zip(self.model.decoder.places, memory.read, strict=True):
            cross: Any = self.model.decoder.layers[place.owner].cross
            for own, one in zip(read, cross.answers(states_MD[None]), strict=True):
                own[: len(states_MD)].copy_(one[0])
        texts = SIZES[bisect_left(SIZES, len(sources))]
        lengths = [len(source) for source in sources]
        starts = [0, *accumulate(lengths)][:-1]
        for own, values in ((memory.starts_N, starts), (memory.lengths_N, lengths)):
            each = torch.tensor(values + values[-1:] * (texts - len(values)), device=own.device)
            own[: texts * self.choice.beams].copy_(each.repeat_interleave(self.choice.beams))
        memory.take(self.search.start(texts))
        memory.at.zero_()
        return texts

    def encoded(self, sources: Sequence[Sequence[int]]) -> Iterator[Tensor]:
        """The encoder's states of some sources after the other, without padding, [token, d_model]."""
        start = 0
        while start < len(sources):
            longest = len(sources[start])
            some = sources[start : start + max(1, READ_AT_ONCE // longest)]
            rows = torch.tensor([[*source, *[0] * (longest - len(source))] for source in some])
            real = torch.arange(longest) < torch.tensor([len(source) for source in some])[:, None]
            device = self.model.here.device
            attend = None if bool(real.all()) else real.to(device)
            states_BSD = self.model.encoder.run(Inputs(rows.to(device), attend)).states
            yield states_BSD.flatten(0, 1)[real.flatten().nonzero()[:, 0].to(device)]
            start += len(some)

    def keep(self, memory: Memory, going: list[int], texts: int) -> None:
        """Continue with these texts, repeating the last one."""
        kept = sent(going + going[-1:] * (texts - len(going)), memory.at.device)
        rows = (kept[:, None] * self.choice.beams + torch.arange(self.choice.beams, device=kept.device)).flatten()
        memory.take(memory.state.select(kept))
        for own in (memory.where_NS, memory.starts_N, memory.lengths_N):
            own[: len(rows)].copy_(own[rows])

    def step(self, memory: Memory, texts: int, number: int) -> None:
        """Read the last token of each row, and choose the next beams."""
        rows, at, state = texts * self.choice.beams, memory.at, memory.first(texts)
        where_NS = memory.where_NS[:rows]
        if number == 0:
            tokens_N = torch.full_like(where_NS[:, 0], self.tokens.start[0], dtype=torch.int64)
        else:
            tokens_N = state.running.tokens.index_select(2, at - 1).flatten()
        places_N = at * memory.rows + torch.arange(rows, device=at.device)
        where_NS.index_copy_(1, at, places_N[:, None].int())
        model = self.decoder.model
        x_N1D = model.embeddings(tokens_N[:, None], None, at.expand(rows)[:, None])
        own = ListedCore(where_NS, at + 1)
        source = ListedCore(memory.starts_N[:rows], memory.lengths_N[:rows])
        for place, written, read in zip(model.places, memory.written, memory.read, strict=True):
            remember = partial(remembered, written=written, places_N=places_N)
            looking = partial(look, memory=(read[0][None], read[1][None]), core=source)
            x_N1D = model.layers[place.owner](x_N1D, Context(own, normed=place.normed, remember=remember, source=looking))
        state, origin = self.search.advance(state, self.decoder.logits(x_N1D[:, 0]), number, at)
        memory.take(state)
        where_NS.copy_(where_NS[origin])
        at.add_(1)


def remembered(k_N1JK: Tensor, v_N1JV: Tensor, *, written: list[Tensor], places_N: Tensor) -> tuple[Tensor, Tensor]:
    """Write the keys and values of this step to their places; return those of all places, as a batch of one."""
    for own, one in zip(written, (k_N1JK, v_N1JV), strict=True):
        own.index_copy_(0, places_N, one[:, 0])
    return written[0][None], written[1][None]


def sent(numbers: list[int], device: torch.device) -> Tensor:
    """Numbers on a device; the host does not wait for it."""
    there = torch.tensor(numbers)
    return there.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else there


class Flags:
    """Which texts are done, as the host knows it some steps later."""

    def __init__(self, memory: Memory) -> None:
        self.done = memory.state.done
        self.asked: deque[tuple[Tensor, torch.cuda.Event | None]] = deque()

    def ask(self, texts: int) -> None:
        """Copy them as they will be after what has been launched."""
        done = self.done[:texts]
        if not done.is_cuda:
            self.asked.append((done.clone(), None))
            return
        copied, event = torch.empty(done.shape, dtype=torch.bool, pin_memory=True), torch.cuda.Event()
        copied.copy_(done, non_blocking=True)
        event.record()
        self.asked.append((copied, event))

    def going(self, texts: int) -> list[int] | None:
        """Which of the first texts were unfinished some steps ago; None if this was not copied to the host."""
        if len(self.asked) < BEHIND:
            return None
        copied, event = self.asked.popleft()
        if event is not None:
            event.synchronize()
        return (~copied[:texts]).nonzero()[:, 0].tolist()

    def forget(self) -> None:
        """The texts have other places now."""
        self.asked.clear()


class Recorder:
    """Steps recorded as CUDA graphs, one for each number of texts."""

    def __init__(self, device: torch.device) -> None:
        self.graphs: dict[int, torch.cuda.CUDAGraph] = {}
        self.seen: set[int] = set()
        self.records = device.type == "cuda"
        if self.records:
            self.pool, self.stream = torch.cuda.graph_pool_handle(), torch.cuda.Stream(device)

    def run(self, step: Any, texts: int, *, recorded: bool, number: int) -> None:
        """Run a step: unrecorded if its rules differ from those of other steps, and once before it is recorded."""
        if not (recorded and self.records and texts in self.seen):
            step(number)
            if recorded:
                self.seen.add(texts)
            return
        if texts not in self.graphs:
            self.graphs[texts] = self.record(step, number)
        self.graphs[texts].replay()

    def record(self, step: Any, number: int) -> torch.cuda.CUDAGraph:
        """Record a step, which does not run it. All recordings share their memory: one is replayed after the other."""
        graph = torch.cuda.CUDAGraph()
        self.stream.wait_stream(torch.cuda.current_stream(self.stream.device))
        with torch.cuda.stream(self.stream):
            graph.capture_begin(pool=self.pool, capture_error_mode="thread_local")
            step(number)
            graph.capture_end()
        return graph
