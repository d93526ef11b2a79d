/* cspell:ignore ifdef ifndef proctype */
/*
 * The rule of docs/explanation/history.md for one hour of one sensor. `spin` tries all orders of steps: see docs/explanation/history-proof.md.
 *
 * -DNO_<clause> takes a clause out of the rule. Then a reader misses an acknowledged sample.
 *
 * A process that is never scheduled again has crashed, so a crash needs no step of its own, except where another process takes over.
 * A step of a process is one request to the database, or one reading of a clock. A request may take any time.
 */

/* Samples are bits of a set. Instant 1 has a sample, its replacement and its removal, with growing revisions. Instant 2 has one sample. */
#define FIRST 1
#define REPLACEMENT 2
#define REMOVAL 4
#define SECOND 8
#define CORRECTIONS (REPLACEMENT | REMOVAL)

/* A tick is two minutes of true time. Only differences of clocks matter, so a clock is right, or a tick ahead. */
#define DIFFERENCE 1 /* of two clocks: twice MOST_CLOCK_DIFFERENCE_MS of schema/rules.ts */
#define HOLDS 1 /* MARK_HOLDS_MS of api/ingest/revisions.ts, which is one minute */
#define MARGIN (DIFFERENCE + HOLDS) /* LATE_MARGIN_MS of schema/rules.ts is more: five minutes */
#define CLOSING (MARGIN + 2) /* closingOf of schema/rules.ts */
/* SMALL: one ingest process. MESSAGES: each ingest process has a message of its own. */
#ifndef END
#define END 5
#endif
#ifndef PASSES
#define PASSES 2
#endif

byte now = 1; /* true time */

/* The database. 0: null */
byte message; /* the table `message` */
byte history; /* the rows of `history` */
byte counted; /* `history_stat`: the samples in the statistics */
byte readFrom, lateAt; /* `history_stat` */
bit packedUntil; /* `pack_progress`: 1: behind the hour */

byte acknowledged;
bit done; /* the reader has read */
bit reading;
byte committing; /* messages between their commit and their acknowledgement */
byte passes;

/* GUARD: api/store/clock-guard.ts. Each reading may be wrong by another amount, because a clock may also be set. */
#ifdef NO_GUARD
#define AHEAD (3 * DIFFERENCE)
#else
#define AHEAD DIFFERENCE
#endif
inline readClock(clock) {
  if
  :: clock = now
  :: clock = now + AHEAD
  fi
}

/* MARGIN: isLate of schema/rules.ts */
#ifdef NO_MARGIN
#define isLate(clock) (clock >= CLOSING)
#else
#define isLate(clock) (clock >= CLOSING - MARGIN)
#endif

/* CLOSED: isHourDue of api/history/packing/packer.ts */
#ifdef NO_CLOSED
#define isDue true
#else
#define isDue (now + AHEAD >= CLOSING)
#endif

/* EXACT: isExact of schema/rules.ts */
#ifdef NO_EXACT
#define isExact(from, late) (from != 0 && late < from)
#else
#define isExact(from, late) (from != 0 && (late == 0 || late + MARGIN < from))
#endif

/* REVISION: mergeRevised of schema/packed/series.ts. What the set shows for instant 1: 0 nothing, 1 the sample, 2 the replacement, 4 the removal */
#define newest(set) ((set) & REMOVAL -> REMOVAL : ((set) & REPLACEMENT -> REPLACEMENT : (set) & FIRST))
#ifdef NO_REVISION
#define shown(set) ((set) & FIRST -> FIRST : newest(set))
#else
#define shown(set) newest(set)
#endif
#define isSufficient(set, must) ((must & SECOND & ~(set)) == 0 && shown(set) >= newest(must))

/* NEWEST_MARK: writeLate of api/store/history/writes.ts: the write timestamp is the clock */
inline writeMark(clock) {
#ifdef NO_NEWEST_MARK
  lateAt = clock
#else
  lateAt = (clock > lateAt -> clock : lateAt)
#endif
}

/* A reader that has begun may miss samples that are acknowledged later, and does not read packed_until again. */
inline acknowledge() {
  if
  :: !reading -> acknowledged = acknowledged | samples
  :: else
  fi
}
inline movePackedUntil() {
  if
  :: !reading -> packedUntil = 1
  :: else
  fi;
  printf("@packer %d|moves packed_until|0\n", me)
}

inline writeCorrection() {
  history = history | samples;
  printf("@ingest %d|writes a correction|%d\n", me, samples)
}

#ifdef NO_REMARK
#define isHeld true
#else
#ifdef NO_MARK_FIRST
#define isHeld false
#else
#define isHeld (other <= clock + HOLDS)
#endif
#endif

/* api/ingest/sample-writer.ts, late-samples.ts: a message. api/ingest/revisions.ts: a correction */
proctype Ingest(byte me) provided (!done) {
  byte samples, clock, other;
  atomic {
    if
    :: me == 1 -> samples = FIRST
    :: me == 2 -> samples = SECOND
#ifndef MESSAGES
    :: me == 1 -> samples = REPLACEMENT
    :: me == 2 -> samples = FIRST
    :: me == 2 -> samples = REMOVAL
#endif
    fi;
    if
    :: samples & CORRECTIONS -> goto marks
    :: else
    fi
  }

  /* COMMIT: finish of sample-writer.ts reads the clock after the commit */
#ifdef NO_COMMIT
  atomic { readClock(clock); printf("@ingest %d|reads its clock|%d\n", me, clock) }
#endif
  d_step { message = message | samples; committing++; printf("@ingest %d|commits|%d\n", me, samples) }
  atomic {
#ifndef NO_COMMIT
    readClock(clock);
    printf("@ingest %d|reads its clock|%d\n", me, clock);
#endif
    if
    :: isLate(clock)
    :: else -> goto acknowledges
    fi
  }
  /* LATE_ROW, MARK: writeSensor of late-samples.ts */
  atomic {
#ifndef NO_LATE_ROW
    history = history | samples;
    printf("@ingest %d|writes a late row|%d\n", me, samples);
#endif
#ifndef NO_MARK
    writeMark(clock);
    printf("@ingest %d|marks the hour|%d\n", me, clock);
#endif
acknowledges:
    acknowledge();
    committing--;
    printf("@ingest %d|acknowledges|%d\n", me, samples);
    goto ends
  }

  /* #writeSensor of revisions.ts */
marks:
  atomic {
    readClock(clock);
    printf("@ingest %d|reads its clock|%d\n", me, clock);
#ifndef NO_MARK_FIRST
    writeMark(clock);
    printf("@ingest %d|marks the hour|%d\n", me, clock)
#endif
  }
  if
  :: atomic {
      /* RENEW: the mark is renewed before an attempt to write the row. */
#ifndef NO_RENEW
      readClock(other);
      if
      :: other > clock + HOLDS -> other = 0; goto marks
      :: else -> other = 0
      fi;
#endif
      writeCorrection();
      if
      :: acknowledge(); printf("@ingest %d|ends|0\n", me); goto ends /* All readers see the correction, or none does. */
      :: true
      fi
    }
  /* The process stood still before this attempt. It does not also end before it reads its clock. */
  :: d_step { writeCorrection() }
  fi;
  /* REMARK: a commit that took longer is marked again. */
  atomic {
    readClock(other);
    printf("@ingest %d|reads its clock|%d\n", me, other);
    if
    :: isHeld -> goto isMarked
    :: else -> clock = other
    fi
  }
  atomic {
    writeMark(clock);
    printf("@ingest %d|marks the hour|%d\n", me, clock);
isMarked:
    acknowledge();
    printf("@ingest %d|acknowledges|%d\n", me, samples)
  }
ends:
  atomic { samples = 0; clock = 0; other = 0 }
}

/* NEWEST: writeStatistics of api/store/history/writes.ts: the write timestamp is read_from */
#ifdef NO_NEWEST
#define isNewest true
#else
#define isNewest (from >= readFrom)
#endif

inline writeRow() {
  history = history | found;
  printf("@packer %d|writes a row|%d\n", me, found)
}

inline writeStatistics() {
  if
  :: isNewest -> readFrom = from; counted = found
  :: else
  fi;
  printf("@packer %d|writes statistics|%d\n", me, found)
}

/* api/history/packing/passes.ts, pack-sensor-hour.ts. The model also packs exact hours again. */
proctype Packer(byte me) provided (!done) {
  byte from, found;
idle:
  /* READ_FROM: packDevice of passes.ts reads the clock first. Here all is read at once: to find more later does no harm. */
  atomic {
    passes < PASSES && isDue && (me == 1 || passes > 0) -> passes++;
#ifndef NO_READ_FROM
    readClock(from);
    printf("@packer %d|reads its clock|%d\n", me, from);
#endif
    found = message;
    printf("@packer %d|reads messages|%d\n", me, found);
    /* MERGE: packWhole of pack-sensor-hour.ts */
#ifdef NO_MERGE
    found = found | (history & CORRECTIONS);
#else
    found = found | history;
#endif
    printf("@packer %d|reads history|%d\n", me, found);
    if
    :: found == 0 -> movePackedUntil(); from = 0; goto idle
    :: else
    fi
  }
#ifdef NO_READ_FROM
  atomic { readClock(from); printf("@packer %d|reads its clock|%d\n", me, from) }
#endif
  /* ROW_FIRST: packWhole writes samples before statistics. */
#ifdef NO_ROW_FIRST
#define first writeStatistics
#define second writeRow
#else
#define first writeRow
#define second writeStatistics
#endif
  d_step { first() }
#ifdef NO_UNTIL
  d_step { movePackedUntil() }
#endif
  /* UNTIL: packHour of packer.ts moves packed_until last */
  atomic { second(); movePackedUntil(); from = 0; found = 0; goto idle }
}

/* BOTH: readDay of api/history/reading/samples.ts */
#ifdef NO_BOTH
#define samplesOfUnpacked history
#else
#define samplesOfUnpacked (history | message)
#endif

/* ORDER: createLookUp of api/history/reading/hours.ts */
proctype Reader() provided (!done) {
  byte got;
  bit isPacked;
#ifdef NO_ORDER
  byte from, late, stat;
  d_step { from = readFrom; late = lateAt; stat = counted; printf("@reader|reads statistics|%d\n", stat) }
#else
#define from readFrom
#define late lateAt
#define stat counted
#endif
  d_step { acknowledged != 0; reading = 1; printf("@reader|reads packed_until|%d\n", packedUntil) }
  atomic {
#ifndef NO_ORDER
    printf("@reader|reads statistics|%d\n", stat);
#endif
    if
    :: from == 0 && late == 0 && packedUntil -> got = 0; goto judges
    :: isExact(from, late) ->
       got = stat; goto judges
    :: from != 0 -> isPacked = 1
    :: from == 0 && !(late == 0 && packedUntil)
    fi
  }
  atomic {
    got = (isPacked -> history : samplesOfUnpacked);
    printf("@reader|reads samples|%d\n", got);
judges:
    printf("@reader|shows|%d\n", got);
    assert(isSufficient(got, acknowledged));
    done = 1
  }
}

/* Rows of `message` expire days after the hour was packed. No request takes as long. */
proctype Environment() provided (!done) {
  do
  :: d_step { now < END -> now++; printf("@time|%d|0\n", now) }
  :: d_step { packedUntil && message != 0 && committing == 0 && !reading -> message = 0; printf("@database|messages expire|0\n") }
  od
}

init {
  atomic {
    run Environment();
#ifndef SMALL
    run Ingest(1);
#endif
    run Ingest(2);
    run Packer(1);
    run Packer(2);
    run Reader()
  }
}
