/** `fumi statusline`: today's tokens and cost and those of the current block, on one line for a prompt or a status bar. */
import type { Command } from 'commander'
import type { App } from '../../app.ts'
import { type Instant, instantFromMs } from '../../model/ids.ts'
import { addCosts, NO_COST, type PriceList, type Spent } from '../../model/prices.ts'
import { formatShortDuration } from '../../model/tool-summary.ts'
import { createLocalDay, toUtcDay } from '../../model/totals.ts'
import { addUsage, NO_USAGE, type Usage } from '../../model/usage.ts'
import { BLOCK_MS, groupUsage, type UsageGroup, type UsageRecord } from '../../model/usage-groups.ts'
import { defineCommand, JSON_OPTION } from '../define-command.ts'
import { resolveProject } from '../index-queries/filters.ts'
import { say } from '../language.ts'
import { writeOut, writeOutJson } from '../output.ts'
import { formatRounded } from '../view/text.ts'

interface Options {
  readonly project?: string
  readonly sync: boolean
  readonly utc?: boolean
  readonly json?: boolean
}

export function statuslineCommand(program: Command): void {
  defineCommand(
    program,
    'statusline',
    "print today's and the current block's tokens on one line",
    '今日と現在のブロックのトークンを 1 行で表示',
  )
    .option('--project <directory>', 'only conversations of this directory', 'このディレクトリーの会話だけ')
    .option('--no-sync', 'print what the index knows, without updating it', '索引を更新せずに表示')
    .option('--utc', 'use the UTC day instead of the local one', '日付を、現地時間ではなく UTC で区切る')
    .option(...JSON_OPTION)
    .note(
      'A block begins at the full hour of its first use and lasts five hours.',
      'ブロックは、最初に使った時刻の正時から 5 時間です。',
    )
    .examples('fumi statusline', 'fumi statusline --no-sync --project .', "PS1='$(fumi statusline --no-sync) $ '")
    .runWithApp(printStatusline)
}

/** Blocks depend on what was used before them; after a pause of five hours they begin again. */
const LOOK_BACK_MS = 7 * 86_400_000

async function printStatusline(app: App, { project, sync, utc, json }: Options): Promise<void> {
  // Silent: whatever goes wrong, a prompt stays usable.
  if (sync) await app.sync({ passes: 'first' }).catch(() => undefined)
  const now = Date.now()
  const { list: prices } = await app.prices()
  const records = app.index.usageRecords({
    since: now - LOOK_BACK_MS,
    ...(project !== undefined && { project: resolveProject(project) }),
  })
  const status = statusAt(now, records, prices, utc === true)
  if (json) return writeOutJson(status)
  await writeOut(`${renderStatus(status, now)}\n`)
}

interface Sum {
  readonly usage: Usage
  /** Null with a subscription. */
  readonly cost: Spent | null
}

interface Status {
  readonly today: Sum
  /** Null while nothing was used for five hours. */
  readonly block: (Sum & { readonly started_at: Instant; readonly ends_at: Instant | null }) | null
}

export function statusAt(now: number, records: readonly UsageRecord[], prices: PriceList, utc: boolean): Status {
  const dayOf = utc ? toUtcDay : createLocalDay()
  const measures = { dayOf, prices }
  const today = dayOf(instantFromMs(now) ?? null)
  const days = groupUsage(records, ['day'], measures).filter(({ names }) => names[0] === today)
  const [block] = groupUsage(records, ['block'], measures).filter(({ names: [start = ''] }) => {
    const began = Date.parse(start)
    return began <= now && now < began + BLOCK_MS
  })
  const startedAt = block?.names[0] as Instant | undefined
  return {
    today: sumOf(days, prices),
    block:
      block && startedAt !== undefined
        ? {
            started_at: startedAt,
            ends_at: instantFromMs(Date.parse(startedAt) + BLOCK_MS) ?? null,
            ...sumOf([block], prices),
          }
        : null,
  }
}

const sumOf = (groups: readonly UsageGroup[], { plan }: PriceList): Sum => ({
  usage: groups.map(({ usage }) => usage).reduce(addUsage, NO_USAGE),
  cost: plan ? null : groups.map(({ cost }) => cost).reduce(addCosts, NO_COST),
})

function renderStatus({ today, block }: Status, now: number): string {
  const left = block?.ends_at ? formatShortDuration(Math.max(60_000, Date.parse(block.ends_at) - now)) : ''
  return [
    say(`today ${renderSum(today)}`, `今日 ${renderSum(today)}`),
    ...(block ? [say(`block ${renderSum(block)}, ${left} left`, `ブロック ${renderSum(block)}、残り ${left}`)] : []),
  ].join(' · ')
}

function renderSum({ usage, cost }: Sum): string {
  const tokens = formatRounded(usage.total_tokens)
  if (cost === null || (cost.usd === 0 && cost.unpriced_tokens === 0)) return tokens
  return `${tokens} $${cost.usd.toFixed(2)}${cost.unpriced_tokens > 0 ? '+' : ''}`
}
