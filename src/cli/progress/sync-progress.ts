/** A bar on a terminal while the index is brought up to date; nothing in a pipe, nothing for what is done at once. */
import type { IndexSyncProgress } from '../../app.ts'
import { say } from '../language.ts'

export interface SyncProgressBar {
  show(progress: IndexSyncProgress): void
  stop(): void
}

/** Less than this is done before a bar can be read. */
const MIN_BYTES_FOR_BAR = 30_000_000
const PHASE_LABELS = { scan: say('counting', '集計'), read: say('indexing', '索引') } as const
/** Rates are those of the last seconds. */
const RATE_WINDOW_MS = 4000

export async function createSyncProgressBar(): Promise<SyncProgressBar> {
  if (!process.stderr.isTTY) return { show: () => {}, stop: () => {} }
  const { SingleBar } = await import('cli-progress')
  const createBar = () =>
    new SingleBar({
      format: say(
        '{what} {bar} {percentage}%  {done}/{all} files  {megabytes}/{size} MB  {rate} MB/s  {left} left',
        '{what} {bar} {percentage}%  {done}/{all} ファイル  {megabytes}/{size} MB  {rate} MB/s  残り {left}',
      ),
      stream: process.stderr,
      clearOnComplete: true,
      barCompleteChar: '█',
      barIncompleteChar: '░',
      barsize: 20,
      hideCursor: true,
    })
  let bar: ReturnType<typeof createBar> | undefined
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
        bar = createBar()
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

const toMegabytes = (bytes: number): number => Math.round(bytes / 1e6)

function formatRemaining(seconds: number): string {
  const wholeSeconds = Math.ceil(seconds)
  if (wholeSeconds < 60) return say(`${wholeSeconds} s`, `${wholeSeconds} 秒`)
  const [minutes, rest] = [Math.floor(wholeSeconds / 60), wholeSeconds % 60]
  return say(`${minutes} min ${rest} s`, `${minutes} 分 ${rest} 秒`)
}
