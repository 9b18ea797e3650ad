/** `fumi keep`: saves what other programs are about to overwrite. */
import type { Command } from 'commander'
import type { Agent } from '../../agents/agent.ts'
import type { House, StoreKept } from '../../app.ts'
import { AppError } from '../../model/error.ts'
import { phrase } from '../../model/phrase.ts'
import { openHouse } from '../house.ts'
import { tellIssues } from '../issues.ts'
import { say } from '../language.ts'
import { writeErr, writeJson, writeOut } from '../output.ts'
import { progressOver } from '../progress.ts'
import { examples } from '../run/examples.ts'

interface Options {
  readonly watch?: boolean
  readonly json?: boolean
}

export function keepCommand(program: Command): void {
  program
    .command('keep')
    .summary(say('save every conversation that its program would overwrite', 'プログラムが上書きする前に、会話を保管'))
    .argument(
      '[path...]',
      say(
        'databases or folders that hold some (default: all of this machine)',
        '会話のあるデータベースまたはフォルダー（既定: このマシンのすべて）',
      ),
    )
    .option(
      '--watch',
      say('go on and keep each new answer as soon as it is written', '監視を続け、新しい応答が書かれるたびに保管'),
    )
    .option('--json', say('print JSON, with --watch one object per line', 'JSON で出力。--watch では 1 行に 1 件'))
    .addHelpText('after', examples('fumi keep', 'fumi keep --watch', 'fumi keep ~/backup/data.sqlite3'))
    .addHelpText(
      'after',
      say(
        '\nfumi list shows what is kept; fumi restore gives it back.',
        '\n保管した会話は fumi list で見られ、fumi restore で戻せます。',
      ),
    )
    .action(run)
}

async function run(paths: readonly string[], options: Options): Promise<void> {
  const house = await openHouse()
  try {
    const done = await keepAll(house, paths)
    if (done.length === 0 && !options.watch) throw nothing(paths)
    await tell(done, options)
    if (options.watch) await keepOn(house, paths, options)
  } finally {
    house.close()
  }
}

async function keepAll(house: House, paths: readonly string[]): Promise<readonly StoreKept[]> {
  const stores = []
  for await (const one of house.keeper.stores(paths)) stores.push(one)
  const logs = stores.flatMap(({ agent, sources }) => sources.map((source) => ({ agent, source, unknown: false })))
  const progress = await progressOver(logs)
  const bySource = new Map(logs.map((log) => [log.source, log]))
  try {
    const done: StoreKept[] = []
    for (const { agent, store, sources } of stores) {
      const onRow = (source: (typeof sources)[number]): void => {
        const log = bySource.get(source)
        if (log) progress.done(log)
      }
      done.push(await house.keeper.keep(agent, store, sources, onRow))
    }
    return done
  } finally {
    progress.stop()
  }
}

/** Until it is interrupted. One store at a time; a change meanwhile is looked at right afterwards. */
async function keepOn(house: House, paths: readonly string[], options: Options): Promise<void> {
  const watched = await house.keeper.watchable(paths)
  if (!options.json) await writeErr(`${watchingLine(watched.map(({ store }) => store).join(', '))}\n`)
  await new Promise<void>((resolve, reject) => {
    let work = Promise.resolve()
    const keepOne = (agent: Agent, store: string): void => {
      work = work.then(async () => {
        const done = await house.keeper.keepAgain(agent, store)
        if (done?.puts.some(({ change }) => change !== 'unchanged')) await tell([done], options)
      })
      work.catch((error: unknown) => {
        stop()
        reject(error)
      })
    }
    const watches = watched.map(({ agent, store }) => agent.volatile?.watch(store, () => keepOne(agent, store)))
    // What was written since the first look, before anybody watched.
    for (const { agent, store } of watched) keepOne(agent, store)
    const alive = setInterval(() => {}, 1 << 30)
    const stop = (): void => {
      for (const watch of watches) watch?.close()
      clearInterval(alive)
    }
    const end = (): void => {
      stop()
      work.then(resolve, () => {})
    }
    process.once('SIGINT', end)
    process.once('SIGTERM', end)
  })
}

const watchingLine = (stores: string): string =>
  say(`watching ${stores} — Ctrl-C ends it`, `${stores} を監視中 — Ctrl-C で終了`)

async function tell(done: readonly StoreKept[], options: Options): Promise<void> {
  if (options.json) for (const one of done) await writeJson(one)
  else await writeOut((await import('../view/keep-report.ts')).keepReport(done))
  await tellIssues(done.flatMap(({ issues }) => issues))
}

const nothing = (paths: readonly string[]): AppError =>
  new AppError(
    'nothing_readable',
    paths.length > 0
      ? phrase(
          `no store in ${paths.join(', ')} whose conversations are overwritten. Give a data.sqlite3 of Amazon Q or Kiro; fumi list says what is wrong with one.`,
          `${paths.join('、')} に、会話が上書きされるデータベースがありません。Amazon Q か Kiro の data.sqlite3 を指定してください。問題があれば fumi list で分かります。`,
        )
      : phrase(
          'no store was found whose conversations are overwritten: neither Amazon Q CLI nor Kiro CLI has been used here.',
          '会話が上書きされるデータベースが見つかりません。Amazon Q CLI も Kiro CLI も、このマシンでは使われていません。',
        ),
  )
