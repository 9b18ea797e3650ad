/** A bar on a terminal for work that takes a while; nothing in a pipe. */
import { stat } from 'node:fs/promises'
import type { Log } from '../normalize.ts'
import { say } from './language.ts'

export interface Progress {
  /** Bytes of this log have been read. */
  at(log: Log, offset: number): void
  /** The log is done. */
  done(log: Log): void
  stop(): void
}

/** Less than this is done before a bar can be read. */
const WORTH_A_BAR = 30_000_000

const SILENT: Progress = { at: () => {}, done: () => {}, stop: () => {} }

export async function progressOver(logs: readonly Log[]): Promise<Progress> {
  if (!process.stderr.isTTY) return SILENT
  const sizes = await Promise.all(logs.map(({ source }) => source.size ?? sizeOf(source.path)))
  const total = sizes.reduce((sum, size) => sum + size, 0)
  return total < WORTH_A_BAR ? SILENT : bar(new Map(logs.map((log, at) => [log, sizes[at] ?? 0])), total)
}

async function bar(sizes: ReadonlyMap<Log, number>, total: number): Promise<Progress> {
  const { SingleBar } = await import('cli-progress')
  const single = new SingleBar({
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
  let before = 0
  const update = (bytes: number): void =>
    single.update(Math.min(bytes, total), {
      files,
      all: sizes.size,
      megabytes: megabytes(bytes),
      size: megabytes(total),
    })
  single.start(total, 0, { files, all: sizes.size, megabytes: 0, size: megabytes(total) })
  return {
    at: (_, offset) => update(before + offset),
    done(log) {
      files++
      before += sizes.get(log) ?? 0
      update(before)
    },
    stop: () => single.stop(),
  }
}

const megabytes = (bytes: number): number => Math.round(bytes / 1e6)

const sizeOf = async (path: string): Promise<number> => (await stat(path).catch(() => undefined))?.size ?? 0
