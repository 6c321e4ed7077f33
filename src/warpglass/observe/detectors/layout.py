"""Where the detectors' native code keeps what it knows: a worker's state, regions, stamps, findings.

Belongs here: numbers that both sides share, the Python that fills tables and the compiled functions that use
them. All words have 64 bits; `S` is the address of a worker's state.

A **stamp** says who accessed a place when: from the highest bit, the block's place in the order of the blocks
plus one, the warp's time, its number (5 bits), the lane (5), the place in the program (11) and the strength
of the access (2). A warp's time grows whenever it synchronises, so of one block's stamps all below `FLOORS`
are ordered before everything that a warp does now: the test that most accesses pass is one comparison.

Stamps of memory stand by **line**, 32 places side by side, which a warp likes to access at once. A line has
one word: 0 where nobody came; one stamp for all of its places, in which a code stands for the lane; or,
negative, the address of a **palette**, a few stamps and which of them each place has, or of 32 stamps.
"""

from __future__ import annotations

WARPS, LANES = 32, 32

# ---------------------------------------------------------------------------------------- stamps
STRENGTH_BITS, PLACE_BITS, LANE_BITS, WARP_BITS = 2, 11, 5, 5
STRENGTHS = (1 << STRENGTH_BITS) - 1
PLACE_SHIFT = STRENGTH_BITS
LANE_SHIFT = PLACE_SHIFT + PLACE_BITS
WARP_SHIFT = LANE_SHIFT + LANE_BITS
TIME_SHIFT = WARP_SHIFT + WARP_BITS
PLACES = 1 << PLACE_BITS
STAMP_BITS = 63  # stamps are positive

# ---------------------------------------------------------------------------------------- lines
# A stamp for a whole line has a code in place of the lane. Where each lane accesses 2**k places, a warp fills
# 2**k lines: that of number j has the code 2**k + j.
LINE_SHIFT = 5  # log2 of its places
LINE = 1 << LINE_SHIFT
EACH_LANE = 1  # the code of a line whose places belong to one lane each
LANE_MASK = (1 << LANE_BITS) - 1 << LANE_SHIFT
ADDRESS_MASK = (1 << 63) - 2  # of a negative word
# A palette, told by the lowest bit of the line's word, has stamps without lanes from number 1 on (in place of
# number 0 stands how many numbers are taken) and a byte for each place: its stamp's number and lane, or 0.
PALETTE = 1
ENTRIES = 8
ENTRY_SHIFT = LANE_BITS  # in a place's byte
ENTRY_BYTES = 8 * ENTRIES
PALETTE_BYTES = ENTRY_BYTES + LINE

# ---------------------------------------------------------------------------------------- a worker's state
TAG = 0  # the stamp of the block under way at time 0
BLOCK_SHIFT = 1
IDENTITY = 2  # the bits of a stamp that say which thread it is
REGIONS = 3  # address of the table of regions
REGION_COUNT = 4
FINDINGS = 5  # address of the table of findings
FINDINGS_FULL = 6  # findings that had no room
CAUSES = 7  # address of the events that order threads, below; 0: barriers alone do
EXACT = 8  # 1 where more than barriers of the whole block and of whole warps order threads
LAST_TIME = 9  # the greatest time that a stamp holds
OVERRUN = 10  # 1 once a time was too great, or copies too many
WARP_COUNT = 11
BLOCK = 12  # the block under way
LOCAL = 13  # address of the bytes that say which local memory was written
LOCAL_SIZE = 14  # of a thread
SPARE_ACCESS = 57  # address of an access of a set that is free, which begins with the address of the next
SEVERAL = 61  # 1 where several workers take turns
SPARE_SET = 60  # address of a set that is free, likewise
SET_TABLE = 58  # address of a table of threads, for sets that are thinned out
SET_TABLES = 59  # how often that was used
COPY_TABLE = 16  # address of the warps' copies under way
UNCOPIED = 17  # address of a byte for each place: 1 for those of asynchronous copies
SHARED_BYTES = 18  # address of the bytes that say what became of those of shared memory
SHARED_SIZE = 19  # 0 where nobody asks
ROOM = 20  # address of unused memory for stamps
ROOM_END = 21
FETCH = 22  # address of the function that brings more
NOTES = 24  # address of a word for each lane: the bytes that a load has found undefined
SPARE = 25  # address of a palette that is free, which begins with the address of the next; 0: there is none
SURPRISED = 26  # 1 once a store has led to what was thought to be only read
PASSES = 27  # address of a word for each kind of loads: 1 for those of what is only read
PASS_WORDS = 32
GATE = 23  # the stamp of the warp that came first to the barrier of the block under way
# Of the journal (races/journal.py):
JOURNAL_LIMIT = 32  # bytes of shared memory whose accesses it takes; 0 while stamps stand for all of them
JOURNAL_TIME = 33  # the warps' time when the interval began
JOURNAL_SIZE = 34  # bytes of shared memory in kernels that have a journal, else 0
WRITTEN = 35  # address of a bit for each byte of shared memory: 1 if the block has written it
MARKS = 36  # address of a word for each place of shared memory: which lane of which access marked it
MARKED = 37  # how many accesses have marked places
FOLLOWING = 38  # 1 once undefined bytes have been copied to shared memory: SHARED_BYTES says what they are
GATE_CONTEXT = 28  # which turn of the loops around it that was
HALT = 30  # address of the word that ends a rehearsal at once, which the first finding does; else 0
FIRST_DEPARTED = 29  # the least time at which lanes of the block under way have, NEVER while none has
NEVER = 1 << 62
COUNTED = 39  # 1 where arrivals at barriers are counted
READ_LIST, WRITE_LIST = 40, 48  # words of the two lists
STOOD_FOR = 56  # address of the table of places whose atomic operations are forgotten (fast_path/atomics.py)
STEPS = 15  # mask of the bits of a time that count what a warp does between two barriers
TIMES = 64  # by warp: its time
FLOORS = TIMES + WARPS  # by warp: the first stamp of this block that may be unordered
LANES_KNOWN = FLOORS + WARPS  # by warp: up to this time all its lanes know of each other
PARTIAL = LANES_KNOWN + WARPS  # by warp: whether some of its lanes know more
STARTED = PARTIAL + WARPS  # by warp: the lanes that it began with, 0 before
AWAITED = STARTED + WARPS  # by warp: lanes that others wait for at a warp barrier
AWAITED_AT = AWAITED + WARPS  # by warp: the place where they do, and by which lane: place << 8 | lane
PENDING = AWAITED_AT + WARPS  # by warp: 1 + the meeting at a barrier that it has yet to learn from
ALL_KNOWN = PENDING + WARPS  # by warp: up to this time it knows of all others
KNOWN = ALL_KNOWN + WARPS  # by warp and other warp: up to which time it knows of the other beyond that
# A meeting: the generation of its barrier plus one, the greatest time of those who came, whether it is for
# all of the block, and by warp the time that those who came know of it.
MEETINGS = KNOWN + WARPS * WARPS
MEETING_WORDS = 4 + WARPS
CAME, LATEST, EVERYONE, KNOWN_THERE = 0, 1, 2, 4
BARRIERS = 16  # each with two meetings, by parity of its generation
LANE_CLOCKS = MEETINGS + 2 * BARRIERS * MEETING_WORDS  # by warp, lane and other lane
COMMITTED = LANE_CLOCKS + WARPS * LANES * LANES  # by warp and lane: groups of copies that are committed
COPIES = COMMITTED + WARPS * LANES  # by warp: the number of its copies under way
# Lanes that have met others of their warp at a warp barrier and have yet to run their own, at another place:
EARLY = COPIES + WARPS  # by warp: these lanes
EARLY_AT = EARLY + WARPS  # by warp: when they have met
EARLY_PLACE = EARLY_AT + WARPS  # by warp: at which of the two the others were
AWAITED_AGAIN = EARLY_PLACE + WARPS  # by warp: those of them that others wait for anew
MISSED = AWAITED_AGAIN + WARPS  # by warp: the place where awaited lanes have met others before, 0 for nowhere
# Of what fences and the values of strong accesses order (races/events.py); events are given by number.
TOLD = MISSED + WARPS  # by warp: 0 if none of its lanes has learned or fenced anything since the last barrier
MET_LAST = TOLD + WARPS  # by warp: the meeting at a counted barrier that it was at last
SNAPSHOTS = MET_LAST + WARPS  # by warp: what it knows of its block, 0 unless that was noted since it changed
LEARNED = SNAPSHOTS + WARPS  # by warp and lane: the event that it knows, with all that led to it
UNFENCED = LEARNED + WARPS * LANES  # read by a load that does not acquire: known behind a fence
UNFENCED_NEAR = UNFENCED + WARPS * LANES  # the same of what its block released: a fence of the block suffices
FENCED = UNFENCED_NEAR + WARPS * LANES  # what goes with the values that it stores
FENCED_NEAR = FENCED + WARPS * LANES  # what goes with them within its block
FENCE = FENCED_NEAR + WARPS * LANES  # the stamp of its last fence, in place of FENCED; else 0
FENCE_LEARNED = FENCE + WARPS * LANES  # what it knew at that fence
FENCE_KNOWS = FENCE_LEARNED + WARPS * LANES  # its warp's snapshot then
PASSED = FENCE_KNOWS + WARPS * LANES  # by meeting: what the threads that came to a barrier leave there
PASSED_WORDS = 4
PASSED_TAG, PASSED_LEARNED, PASSED_FENCED, PASSED_FENCED_NEAR = range(4)
# Who waits at a barrier of the block, and who has taken a way to none (sync/missing.py):
WAITING = (
    PASSED + 2 * BARRIERS * PASSED_WORDS
)  # by warp: lanes that wait; place << 8 | lane, barrier, turn of the first
WAITING_AT = WAITING + WARPS
WAITING_GATE = WAITING_AT + WARPS
WAITING_CONTEXT = WAITING_GATE + WARPS
BARRIER_AT = WAITING_CONTEXT + WARPS  # by warp: the barrier that it has come to last, place << 8 | lane
DEPARTED = BARRIER_AT + WARPS  # by warp: the lanes that have departed, where the latest did, when
DEPARTED_AT = DEPARTED + WARPS
DEPARTED_TIME = DEPARTED_AT + WARPS
SETTLED = DEPARTED_TIME + WARPS  # by warp and barrier: up to which generation plus one it has gone on
# Address of a word for each warp of the grid: lanes that were refused an access; or 0.
REFUSED = SETTLED + WARPS * BARRIERS
REFUSALS = REFUSED + 1  # how many accesses were refused
# Of kernels that name other blocks of their cluster (sync/clusters.py):
CLUSTER_SIZE = REFUSALS + 1  # in blocks; else 0
CLUSTER = CLUSTER_SIZE + 1  # the number of the cluster under way, plus one
RANK = CLUSTER + 1  # of the block under way
PEERS = RANK + 1  # address of PEER_WORDS for each rank, and of the cluster that has begun last
ARRIVED = PEERS + 1  # by warp: how often it has arrived at the cluster's barrier
WAITED = ARRIVED + WARPS  # by warp: of those, how often it has waited
# Who comes to that barrier (sync/cluster_absence.py), by warp: the stamp of the latest arrival, whether all
# lanes must make it together, lanes that have arrived where no other arrival lies ahead; lanes that have
# departed, and the stamp of the latest.
ARRIVED_AT = WAITED + WARPS
ARRIVES_ALIGNED = ARRIVED_AT + WARPS
ARRIVED_LAST = ARRIVES_ALIGNED + WARPS
LEFT_CLUSTER = ARRIVED_LAST + WARPS
LEFT_CLUSTER_AT = LEFT_CLUSTER + WARPS
ARRIVALS = LEFT_CLUSTER_AT + WARPS  # by warp and lane: how often it has arrived
STATE_WORDS = ARRIVALS + WARPS * LANES
# How often who reached a block's memory last had arrived, plus one, with its stamp, where that was and how
# many bytes; the address of the block's state.
PEER_WORDS = 5
PEER_REACHED, PEER_STAMP, PEER_OFFSET, PEER_SIZE, PEER_STATE = range(PEER_WORDS)
# Behind them, of the cluster under way: its number plus one, the phase of its barrier plus one, the stamp of
# who arrived in that first; the stamps of the first two who arrived in one phase at different places.
UNDER_WAY, MEETING, MEETING_AT, ASTRAY, ASTRAY_FROM = range(PEER_WORDS)
# An entry of the table STOOD_FOR, by address: it, and until when operations there are forgotten.
STOOD_SLOTS, STOOD_SHIFT, ALWAYS = 4096, 2, -1
# Until anybody else comes there, of those that acquire and release (races/chained_updates.py): a mark with
# log2 of their bytes, in shared memory one with the block's tag.
CHAINED, CHAINED_NEAR = -16, 8
# A copy under way: address of the stamp, the stamp, the copy's group.
COPY_SLOTS, COPY_WORDS = 16384, 3

# ---------------------------------------------------------------------------------------- sets
# What is remembered of a line beyond its stamps: the block, for shared memory; the first access that is not
# an atomic operation of the device's scope, the first that is; how many, and how many before they are thinned
# out.
SET_TAG, SET_OTHERS, SET_ATOMIC, SET_COUNT, SET_LIMIT = (8 * word for word in range(5))
SET_BYTES = 40
# An access of it: the next one, the stamp, the place in its line with SET_WRITE above it.
MEMBER_NEXT, MEMBER_STAMP, MEMBER_PLACE = 0, 8, 16
MEMBER_BYTES = 24
SET_WRITE = LINE
SET_SLOTS = 1 << 14  # of SET_TABLE, two words each

# ---------------------------------------------------------------------------------------- events
# What all workers of a launch share of the events that order threads (races/events.py).
(
    EVENTS,  # address of the events
    EVENT_COUNT,
    KNOWLEDGE,  # address of the snapshots
    KNOWLEDGE_COUNT,  # words of them that are used
    VALUES,  # address of the table of places: what came with the value that each has
    VALUES_USED,
    QUERIES,  # how often events were searched
    TO_SEARCH,  # address of room for the events that a search has yet to look at
    BASE_EVENT,  # the event that CLOSURE is of; 0: there is none
    CLOSURE,  # its number
    REACHED,  # by block and warp: the number of a closure << 32 | the first event in it of that warp
    BLOCK_KNOWN,  # by block: the number of a closure, and the time up to which it knows all of the block
    FIRST_EVENTS,  # by block: how many events there were when it began
    NEAR,  # 1 where some order threads of one block only
    GAVE_UP,  # 1 once there was no room: everything counts as ordered
) = range(15)
CAUSES_WORDS = 16
# An event: a stamp with neither place nor lane, 0 of mere joins; then, in half words, up to two events before
# it, the snapshot, the lanes that it is of, the last search and the closure that met it, and the next event
# of its warp in that closure.
EVENT_BYTES = 40
EVENT_STAMP, EVENT_BEFORE, EVENT_CHAIN, EVENT_KNOWS, EVENT_LANES = 0, 8, 12, 16, 20
EVENT_SEARCH, EVENT_CLOSURE, EVENT_NEXT = 24, 28, 32
MOST_EVENTS, MOST_KNOWLEDGE = 1 << 23, 1 << 23
# A snapshot: the times up to which all other warps and all lanes of the own one are known, whether what is
# known of each warp follows, and whether behind that what each lane knows of each other.
SNAPSHOT_WORDS = 4
SNAPSHOT_ALL, SNAPSHOT_LANES, SNAPSHOT_WARPS, SNAPSHOT_CLOCKS = range(4)
# A row of the table of places, by address and, where only that counts, block.
VALUE_BYTES, VALUE_SLOTS = 40, 1 << 20
VALUE_KEY, VALUE_OWNER, VALUE_EVENT, VALUE_STORES = 0, 8, 16, 24
VALUE_UPDATE = 32  # the stamp of the last operation that acquired and released
# What of an access orders threads, when code is generated.
ATOMICALLY, ACQUIRING, RELEASING, READING, WRITING, WITHIN_BLOCK = (1 << bit for bit in range(6))

# ---------------------------------------------------------------------------------------- the journal
# A list of it: how many entries it has, their lowest byte and the end of their highest, and the addresses of
# each one's lowest byte and end (32 bits each), of the entries, of room for lanes' offsets.
LIST_COUNT, LIST_LOW, LIST_HIGH, LIST_LOWS, LIST_HIGHS, LIST_ENTRIES, LIST_ROOM = range(7)
LIST_SLOTS = 8192
WIDEST = 32  # bytes that a lane may access at once to be entered
NOWHERE = 1 << 40  # LIST_LOW of an empty list
# An entry: the access word, the stamp without the lane, the mask with the entry's number in the journal above
# it, an address, and where the lanes' offsets from it are (32 bits each).
ENTRY_INFO, ENTRY_STAMP, ENTRY_MASK, ENTRY_BASE, ENTRY_OFFSETS = range(5)
ENTRY_WORDS = 5
NUMBER_SHIFT = 32
OFFSETS_BYTES = 4 * LANES

# ---------------------------------------------------------------------------------------- regions
# One per allocation, by address, behind those of shared memory, module variables and the heap. Kinds
# of stamps are addresses of the lines' words.
REGION_WORDS = 16
(
    BASE,
    SIZE,
    DELTA,
    SHIFT,
    WRITES,
    READS,
    LANE_READS,
    OTHER_READS,
    FRESH,
    MORE_READS,  # 0 while READS are all, SOME with LANE_READS and OTHER_READS, FAR with FAR_READS as well
    EARLIER_WRITES,
    FAR_READS,
    START,  # BASE as a generic address
    ONLY_READ,  # 1 where no store of the launch leads: nothing is remembered
    SETS,  # of lines: addresses of what else is remembered of them (races/access_sets.py)
    DEFINED,  # of FRESH ones: address of a bit for each byte that was written before the launch; 0: none was
) = range(16)
SOME, FAR = 1, 2
SHARED_REGION, MODULE_REGION, HEAP_REGION, FIRST_ARRAY = range(4)
SHARED_WINDOW, LOCAL_WINDOW = 1, 2  # of generic addresses, above the bits that say where in it
WINDOW_SHIFT = 48
WITHIN_WINDOW = (1 << WINDOW_SHIFT) - 1
RANK_SHIFT = 24  # where addresses of shared memory have the block's rank plus one; 0 in most kernels
RANKS = 255
LOCAL_REGION = 0xFFFF  # in findings only

# ---------------------------------------------------------------------------------------- registers
# What is known of a register's undefined bytes: a bit each from the lowest, and above them the place of their
# load, the bytes of the element and the state space (SPACES).
CARRIED_PLACE, CARRIED_SIZE, CARRIED_SPACE = 16, 32, 40

# ---------------------------------------------------------------------------------------- access words
# What is known of an access when code is generated, packed into one word.
SIZE_FIELD = 0  # 8 bits: bytes per lane
WRITE_FIELD = 8
STRENGTH_FIELD = 9  # 2 bits
SPACE_FIELD = 11  # 2 bits
PLACE_FIELD = 13  # PLACE_BITS
COPY_FIELD = 40  # a store of an asynchronous copy
UPDATE_FIELD = 24  # an atomic operation: reads too
VALUE_FIELD = 25  # the values to be written come along
USED_FIELD = 26  # 8 bits: elements whose use would show that they were undefined
ELEMENT_FIELD = 34  # 6 bits: log2 of the bytes of an element
NOTE_FIELD = 42  # a load that notes what it finds undefined
CHAINED_FIELD = 43  # an update that acquires and releases
MET_FIELD = 41  # an update by whose value its thread decides: it has met those before it
SHARED_SPACE, GLOBAL_SPACE, GENERIC_SPACE, LOCAL_SPACE = range(4)
SPACES = {"shared": SHARED_SPACE, "global": GLOBAL_SPACE, "generic": GENERIC_SPACE, "local": LOCAL_SPACE}

# How strong an access is.
PLAIN, VOLATILE, ATOMIC, BLOCK_ATOMIC = range(4)

# ---------------------------------------------------------------------------------------- findings
FINDING_SLOTS = 4096
(
    KEY,
    COUNT,
    CODE,  # of the kind and variant (recorder.py)
    STAMP,  # of the access that was found
    OTHER,  # of the one that it is unordered with
    REGION,
    OFFSET,  # bytes into the region
    SAME_VALUE,
    EXTRA,
    ACCESS,  # which access of a race followed which (races/shadow.py)
) = range(10)
FINDING_WORDS = 10
