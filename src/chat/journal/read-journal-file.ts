/** Reads a journal that is about to be written, and puts aside what its last writer could not finish. */
import { closeSync, fstatSync, fsyncSync, ftruncateSync, openSync, readSync, writeFileSync, writeSync } from 'node:fs'
import { readEvent } from '../../conversation/journal/event-codec.ts'
import { findHeaderFault, type LineIssue } from '../../conversation/journal/read-journal.ts'
import { emptyReplay, type Replay, replayEvent } from '../../conversation/journal/replay.ts'
import { refuseSpecialAt } from '../../lib/files/regular-file.ts'
import { LineSplitter } from '../../lib/lines/line-splitter.ts'
import { decodeUtf8 } from '../../lib/text.ts'

export interface JournalFileContent {
  readonly replay: Replay
  readonly issues: readonly LineIssue[]
  /** A last line without its newline. */
  readonly tail: UnfinishedLine | undefined
}

export interface UnfinishedLine {
  readonly bytes: Buffer
  /** It is a whole event: only the newline is missing. */
  readonly isComplete: boolean
}

const CHUNK_BYTES = 1 << 18

export function readJournalFile(fd: number): JournalFileContent {
  const issues: LineIssue[] = []
  let replay = emptyReplay()
  let tail: UnfinishedLine | undefined
  const splitter = new LineSplitter({ offset: 0, number: 1 })
  const sink = {
    line(bytes: Buffer, from: number, to: number, ended: boolean): void {
      const text = decodeUtf8(bytes.subarray(from, to))
      if (ended && text.trim() === '') return
      const read = readEvent(text)
      if (!ended) tail = { bytes: Buffer.from(bytes.subarray(from, to)), isComplete: read.ok }
      if (read.ok) replay = replayEvent(replay, read.event)
      const fault = read.ok ? findHeaderFault(read.event, splitter.number) : read
      if (fault && ended) issues.push({ code: fault.code, reason: fault.reason, line: splitter.number })
    },
    tooLong(): void {
      issues.push({ code: 'line_too_long', reason: 'the line is too long to be read', line: splitter.number })
    },
  }
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  for (let at = 0; ; ) {
    const read = readSync(fd, chunk, 0, CHUNK_BYTES, at)
    if (read === 0) break
    splitter.feed(chunk.subarray(0, read), sink)
    at += read
  }
  splitter.end(sink)
  return { replay, issues, tail }
}

/** The journal ends with a newline afterwards. Gives the file that took what was cut off. */
export function moveTornLine(fd: number, path: string, tail: UnfinishedLine | undefined): string | undefined {
  if (!tail) return undefined
  const { size } = fstatSync(fd)
  if (tail.isComplete) {
    writeSync(fd, '\n', size)
    return undefined
  }
  const tornPath = path.replace(/\.jsonl$/, '.torn')
  refuseSpecialAt(tornPath)
  const torn = openSync(tornPath, 'a', 0o600)
  try {
    writeFileSync(torn, Buffer.concat([tail.bytes, Buffer.from('\n')]))
    fsyncSync(torn)
  } finally {
    closeSync(torn)
  }
  ftruncateSync(fd, size - tail.bytes.length)
  fsyncSync(fd)
  return tornPath
}
