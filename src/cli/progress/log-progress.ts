/** A bar on a terminal for work that takes a while; nothing in a pipe. */
import { stat } from 'node:fs/promises'
import type { Log } from '../../normalize.ts'
import { say } from '../language.ts'

export interface LogProgress {
  /** Bytes of this log have been read. */
  at(log: Log, offset: number): void
  /** The log is done. */
  done(log: Log): void
  stop(): void
}

/** Less than this is done before a bar can be read. */
const MIN_BYTES_FOR_BAR = 30_000_000

const NO_PROGRESS: LogProgress = { at: () => {}, done: () => {}, stop: () => {} }

export async function createLogProgress(logs: readonly Log[]): Promise<LogProgress> {
  if (!process.stderr.isTTY) return NO_PROGRESS
  const sizes = await Promise.all(logs.map(({ source }) => source.size ?? fileSize(source.path)))
  const total = sizes.reduce((sum, size) => sum + size, 0)
  return total < MIN_BYTES_FOR_BAR
    ? NO_PROGRESS
    : createBar(new Map(logs.map((log, at) => [log, sizes[at] ?? 0])), total)
}

async function createBar(sizes: ReadonlyMap<Log, number>, total: number): Promise<LogProgress> {
  const { SingleBar } = await import('cli-progress')
  const progressBar = new SingleBar({
    format: say(
      '{bar} {percentage}%  {files}/{all} files  {megabytes}/{size} MB  {eta_formatted} left',
      '{bar} {percentage}%  {files}/{all} ファイル  {megabytes}/{size} MB  残り {eta_formatted}',
    ),
    stream: process.stderr,
    clearOnComplete: true,
    barCompleteChar: '█',
    barIncompleteChar: '░',
    hideCursor: true,
    etaBuffer: 50,
  })
  let files = 0
  let finishedBytes = 0
  const update = (bytes: number): void =>
    progressBar.update(Math.min(bytes, total), {
      files,
      all: sizes.size,
      megabytes: toMegabytes(bytes),
      size: toMegabytes(total),
    })
  progressBar.start(total, 0, { files, all: sizes.size, megabytes: 0, size: toMegabytes(total) })
  return {
    at: (_, offset) => update(finishedBytes + offset),
    done(log) {
      files++
      finishedBytes += sizes.get(log) ?? 0
      update(finishedBytes)
    },
    stop: () => progressBar.stop(),
  }
}

const toMegabytes = (bytes: number): number => Math.round(bytes / 1e6)

const fileSize = async (path: string): Promise<number> => (await stat(path).catch(() => undefined))?.size ?? 0
