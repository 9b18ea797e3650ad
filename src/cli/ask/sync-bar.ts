/** A bar on a terminal while the index is brought up to date; nothing in a pipe, nothing for what is done at once. */
import type { Progress } from '../../app.ts'
import { say } from '../language.ts'

export interface SyncBar {
  show(progress: Progress): void
  stop(): void
}

/** Less than this is done before a bar can be read. */
const WORTH_A_BAR = 30_000_000
const WORDS = { scan: say('counting', '集計'), read: say('indexing', '索引') } as const
/** Rates are those of the last seconds. */
const WINDOW = 4000

export async function syncBar(): Promise<SyncBar> {
  if (!process.stderr.isTTY) return { show: () => {}, stop: () => {} }
  const { SingleBar } = await import('cli-progress')
  const make = () =>
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
  let bar: ReturnType<typeof make> | undefined
  let phase: Progress['phase'] | undefined
  let rate = new Rate()
  const stop = (): void => {
    bar?.stop()
    bar = undefined
  }
  return {
    stop,
    show({ phase: now, done, total, bytes, total_bytes }) {
      if (total_bytes < WORTH_A_BAR) return
      const speed = rate.at(performance.now(), bytes)
      const shown = {
        what: WORDS[now],
        done,
        all: total,
        megabytes: megabytes(bytes),
        size: megabytes(total_bytes),
        rate: speed === 0 ? '–' : megabytes(speed),
        left: speed === 0 ? '–' : duration(Math.max(0, total_bytes - bytes) / speed),
      }
      if (phase !== now) {
        stop()
        phase = now
        rate = new Rate()
        bar = make()
        bar.start(total_bytes, Math.min(bytes, total_bytes), shown)
      } else bar?.update(Math.min(bytes, total_bytes), shown)
    },
  }
}

class Rate {
  readonly #seen: { at: number; bytes: number }[] = []

  /** Bytes per second. */
  at(now: number, bytes: number): number {
    this.#seen.push({ at: now, bytes })
    while ((this.#seen[1]?.at ?? now) < now - WINDOW) this.#seen.shift()
    const [first] = this.#seen
    return first && now > first.at + 500 ? ((bytes - first.bytes) / (now - first.at)) * 1000 : 0
  }
}

const megabytes = (bytes: number): number => Math.round(bytes / 1e6)

function duration(seconds: number): string {
  const whole = Math.ceil(seconds)
  if (whole < 60) return say(`${whole} s`, `${whole} 秒`)
  const [minutes, rest] = [Math.floor(whole / 60), whole % 60]
  return say(`${minutes} min ${rest} s`, `${minutes} 分 ${rest} 秒`)
}
