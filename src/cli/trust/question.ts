/** What a project's file would do, for the user who has to decide whether to trust it. */
import { createInterface } from 'node:readline/promises'
import { folded } from '../../lib/text.ts'
import type { ChatTrust, ChatTrustItem, ChatTrustKind } from '../../model/api/chat.ts'
import { visible } from '../../model/told/visible.ts'
import { say } from '../language.ts'
import { writeErr } from '../output.ts'
import { paint } from '../view/paint.ts'
import { terminalWidth } from '../view/table.ts'

/** All of it escaped; every line of the project's own text stands behind a bar, so that none of it looks like ours. */
export function trustText({ kind, name, path, changed, items, left }: ChatTrust): string {
  const what =
    kind === 'agent'
      ? say(`The agent ${flat(name)} of this project`, `このプロジェクトのエージェント ${flat(name)}`)
      : say('The MCP servers of this project', 'このプロジェクトの MCP サーバー')
  const title = say(
    `${what} can run commands on this machine. Its file:`,
    `${what}は、このマシンでコマンドを実行できます。ファイル：`,
  )
  const lines = [
    `${paint.yellow('?')} ${paint.bold(title)} ${flat(path)}`,
    ...(changed ? [paint.red(say('  It has changed since you trusted it.', '  信頼した後に変更されています。'))] : []),
    ...items.flatMap(itemLines),
    ...(items.length === 0
      ? [
          paint.dim(
            say('  It runs nothing and allows nothing by itself.', '  実行するものも、許可するものもありません。'),
          ),
        ]
      : []),
    ...(left > 0
      ? [
          paint.red(
            say(
              `  ${left} more items are not shown: read the file before you trust it.`,
              `  ほかに ${left} 件あります。信頼する前にファイルを読んでください。`,
            ),
          ),
        ]
      : []),
  ]
  return `${lines.join('\n')}\n`
}

function itemLines({ kind, name, text, cut }: ChatTrustItem): readonly string[] {
  const head = `  ${kindText(kind)}${name === '' ? '' : ` ${flat(name)}`}`
  const more = say(`… ${cut} more characters: read the file`, `… あと ${cut} 文字あります。ファイルを読んでください`)
  return [
    paint.bold(head),
    ...visible(text)
      .split('\n')
      .flatMap((line) => folds(line, terminalWidth() - BAR_COLUMNS))
      .map((line) => `    ${paint.dim('│')} ${line}`),
    ...(cut > 0 ? [paint.red(`    ${more}`)] : []),
  ]
}

/** Of the bar and what stands before it. */
const BAR_COLUMNS = 7

/** A line in pieces that fit: one that the terminal breaks by itself would go on without the bar. */
function folds(line: string, room: number): readonly string[] {
  const pieces = ['']
  let width = 0
  for (const letter of line.replaceAll('\t', '    ')) {
    const columns = letter < '\u007f' ? 1 : 2
    if (width + columns > Math.max(room, 20)) {
      pieces.push('')
      width = 0
    }
    pieces[pieces.length - 1] += letter
    width += columns
  }
  return pieces
}

/** In one line. */
const flat = (text: string): string => visible(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t')

function kindText(kind: ChatTrustKind): string {
  switch (kind) {
    case 'hook':
      return say('runs by itself (hook)', '自動で実行（フック）')
    case 'server':
      return say('starts (MCP server)', '起動（MCP サーバー）')
    case 'env':
      return say('sets a variable or header for', '変数・ヘッダーを設定')
    case 'allowed':
      return say('tools that run without asking', '確認なしに動くツール')
    case 'setting':
      return say('setting', '設定')
    case 'alias':
      return say('renames a tool to', 'ツールの別名')
    case 'prompt':
      return say('instruction to the model', 'モデルへの指示')
  }
}

export const TRUST_MARK = say('Trust this file? [y/N] ', 'このファイルを信頼しますか？ [y/N] ')

/** Anything but a clear yes is a no. */
export const isYes = (said: string | undefined): boolean =>
  said !== undefined && ['y', 'yes', 'はい'].includes(folded(said.trim()))

/** Whether somebody sits at a terminal and can be asked before anything else begins. */
export const canAsk = (): boolean => process.stdin.isTTY === true && process.stderr.isTTY === true

/** False where nobody can be asked. */
export async function asked(text: string, mark: string): Promise<boolean> {
  if (!canAsk()) return false
  await writeErr(text)
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  // Ctrl-D and Ctrl-C are a no.
  const gone = new Promise<undefined>((resolve) => {
    lines.once('close', () => resolve(undefined))
  })
  lines.once('SIGINT', () => lines.close())
  try {
    return isYes(await Promise.race([lines.question(mark).catch(() => undefined), gone]))
  } finally {
    lines.close()
  }
}

export const askTrust = (question: ChatTrust): Promise<boolean> => asked(trustText(question), TRUST_MARK)
