/** Progress bars on a terminal for work that takes a while; nothing in a pipe. */
import { stat } from 'node:fs/promises'
import type { Options, SingleBar } from 'cli-progress'
import type { Source } from '../agents/agent.ts'
import type { IndexSyncProgress } from '../app.ts'
import { say } from './language.ts'

/** Below this, the work ends before anyone could read a bar. */
const MIN_BYTES_FOR_BAR = 30_000_000

async function loadBar(): Promise<(format: string, settings: Options) => SingleBar> {
  const { SingleBar } = await import('cli-progress')
  const style = { clearOnComplete: true, barCompleteChar: '█', barIncompleteChar: '░', hideCursor: true }
  return (format, settings) => new SingleBar({ format, stream: process.stderr, ...style, ...settings })
}

const toMegabytes = (bytes: number): number => Math.round(bytes / 1e6)

export interface LogProgress {
  /** Reports how many bytes of the source have been read. */
  at(offset: number): void
  done(source: Source): void
  stop(): void
}

const NO_PROGRESS: LogProgress = { at: () => {}, done: () => {}, stop: () => {} }

/** For sources that are read one after another. */
export async function createLogProgress(sources: readonly Source[]): Promise<LogProgress> {
  if (!process.stderr.isTTY) return NO_PROGRESS
  const sizes = new Map(
    await Promise.all(sources.map(async (source) => [source, source.size ?? (await fileSize(source.path))] as const)),
  )
  const total = [...sizes.values()].reduce((sum, size) => sum + size, 0)
  if (total < MIN_BYTES_FOR_BAR) return NO_PROGRESS
  const format = say(
    '{bar} {percentage}%  {files}/{all} files  {megabytes}/{size} MB  {eta_formatted} left',
    '{bar} {percentage}%  {files}/{all} ファイル  {megabytes}/{size} MB  残り {eta_formatted}',
  )
  const bar = (await loadBar())(format, { etaBuffer: 50 })
  let files = 0
  let finishedBytes = 0
  const fields = (bytes: number): object => ({
    files,
    all: sizes.size,
    megabytes: toMegabytes(bytes),
    size: toMegabytes(total),
  })
  const update = (bytes: number): void => bar.update(Math.min(bytes, total), fields(bytes))
  bar.start(total, 0, fields(0))
  return {
    at: (offset) => update(finishedBytes + offset),
    done(source) {
      files++
      finishedBytes += sizes.get(source) ?? 0
      update(finishedBytes)
    },
    stop: () => bar.stop(),
  }
}

const fileSize = async (path: string): Promise<number> => (await stat(path).catch(() => undefined))?.size ?? 0

const PHASE_LABELS = { scan: say('counting', '集計'), read: say('indexing', '索引') } as const
/** Rates are averages over this time. */
const RATE_WINDOW_MS = 4000

export interface SyncProgressBar {
  show(progress: IndexSyncProgress): void
  stop(): void
}

/** For updating the index. */
export async function createSyncProgressBar(): Promise<SyncProgressBar> {
  if (!process.stderr.isTTY) return { show: () => {}, stop: () => {} }
  const createBar = await loadBar()
  const format = say(
    '{what} {bar} {percentage}%  {done}/{all} files  {megabytes}/{size} MB  {rate} MB/s  {left} left',
    '{what} {bar} {percentage}%  {done}/{all} ファイル  {megabytes}/{size} MB  {rate} MB/s  残り {left}',
  )
  let bar: SingleBar | undefined
  let phase: IndexSyncProgress['phase'] | undefined
  let rate = new ByteRate()
  const stop = (): void => {
    bar?.stop()
    bar = undefined
  }
  return {
    stop,
    show({ phase: now, done, total, bytes, total_bytes }) {
      if (total_bytes < MIN_BYTES_FOR_BAR) return
      const speed = rate.at(performance.now(), bytes)
      const fields = {
        what: PHASE_LABELS[now],
        done,
        all: total,
        megabytes: toMegabytes(bytes),
        size: toMegabytes(total_bytes),
        rate: speed === 0 ? '–' : toMegabytes(speed),
        left: speed === 0 ? '–' : formatRemaining(Math.max(0, total_bytes - bytes) / speed),
      }
      if (phase !== now) {
        stop()
        phase = now
        rate = new ByteRate()
        bar = createBar(format, { barsize: 20 })
        bar.start(total_bytes, Math.min(bytes, total_bytes), fields)
      } else bar?.update(Math.min(bytes, total_bytes), fields)
    },
  }
}

class ByteRate {
  readonly #samples: { at: number; bytes: number }[] = []

  /** Bytes per second. */
  at(now: number, bytes: number): number {
    this.#samples.push({ at: now, bytes })
    while ((this.#samples[1]?.at ?? now) < now - RATE_WINDOW_MS) this.#samples.shift()
    const [first] = this.#samples
    return first && now > first.at + 500 ? ((bytes - first.bytes) / (now - first.at)) * 1000 : 0
  }
}

function formatRemaining(seconds: number): string {
  const wholeSeconds = Math.ceil(seconds)
  if (wholeSeconds < 60) return say(`${wholeSeconds} s`, `${wholeSeconds} 秒`)
  const [minutes, rest] = [Math.floor(wholeSeconds / 60), wholeSeconds % 60]
  return say(`${minutes} min ${rest} s`, `${minutes} 分 ${rest} 秒`)
}
