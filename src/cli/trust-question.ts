/** Shows what a project's file would do, and asks whether to trust it. */
import { createInterface } from 'node:readline/promises'
import { foldText } from '../lib/text.ts'
import type { ChatTrust, ChatTrustItem, ChatTrustKind } from '../model/api/chat.ts'
import { toVisible } from '../model/hostile-characters.ts'
import { say } from './language.ts'
import { writeErr } from './output.ts'
import { paint } from './view/paint.ts'
import { terminalWidth } from './view/table.ts'

/** Escapes everything and puts a bar before each line of the project's text, so that none of it looks like ours. */
export function renderTrustQuestion({ kind, name, path, changed, items, left: hiddenItems }: ChatTrust): string {
  const what =
    kind === 'agent'
      ? say(`The agent ${toOneLine(name)} of this project`, `このプロジェクトのエージェント ${toOneLine(name)}`)
      : say('The MCP servers of this project', 'このプロジェクトの MCP サーバー')
  const title = say(
    `${what} can run commands on this machine. Its file:`,
    `${what}は、このマシンでコマンドを実行できます。ファイル：`,
  )
  const lines = [
    `${paint.yellow('?')} ${paint.bold(title)} ${toOneLine(path)}`,
    changed && paint.red(say('  It has changed since you trusted it.', '  信頼した後に変更されています。')),
    ...items.flatMap(itemLines),
    items.length === 0 &&
      paint.dim(say('  It starts no program and allows no tool.', '  プログラムの起動も、ツールの許可もありません。')),
    hiddenItems > 0 &&
      paint.red(
        say(
          `  ${hiddenItems} more items not shown. Read the file before you trust it.`,
          `  ほかに ${hiddenItems} 件あります。信頼する前にファイルを読んでください。`,
        ),
      ),
  ]
  return `${lines.filter((line) => line !== false).join('\n')}\n`
}

function itemLines({ kind, name, text, cut }: ChatTrustItem): readonly string[] {
  const head = `  ${KIND_LABELS[kind]}${name === '' ? '' : ` ${toOneLine(name)}`}`
  const more = say(`… ${cut} more characters; read the file`, `… あと ${cut} 文字あります。ファイルを読んでください`)
  return [
    paint.bold(head),
    ...toVisible(text)
      .split('\n')
      .flatMap((line) => splitToWidth(line, terminalWidth() - BAR_COLUMNS))
      .map((line) => `    ${paint.dim('│')} ${line}`),
    ...(cut > 0 ? [paint.red(`    ${more}`)] : []),
  ]
}

/** Width of the bar and its indent. */
const BAR_COLUMNS = 7

/** Wraps here, because a line that the terminal wraps would continue without the bar. */
function splitToWidth(line: string, availableWidth: number): readonly string[] {
  const pieces = ['']
  let width = 0
  for (const character of line.replaceAll('\t', '    ')) {
    const columns = character < '\u007f' ? 1 : 2
    if (width + columns > Math.max(availableWidth, 20)) {
      pieces.push('')
      width = 0
    }
    pieces[pieces.length - 1] += character
    width += columns
  }
  return pieces
}

const toOneLine = (text: string): string => toVisible(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t')

const KIND_LABELS: { readonly [kind in ChatTrustKind]: string } = {
  hook: say('runs automatically (hook)', '自動で実行（フック）'),
  server: say('starts an MCP server', 'MCP サーバーを起動'),
  env: say('sets a variable or header for', '変数・ヘッダーを設定'),
  allowed: say('tools that run without asking', '確認なしに動くツール'),
  setting: say('setting', '設定'),
  alias: say('renames a tool to', 'ツールの別名'),
  prompt: say('instructions to the model', 'モデルへの指示'),
}

export const TRUST_PROMPT = say('Trust this file? [y/N] ', 'このファイルを信頼しますか？ [y/N] ')

export const isYes = (answer: string | undefined): boolean =>
  answer !== undefined && ['y', 'yes', 'はい'].includes(foldText(answer.trim()))

/** Whether a user at a terminal can answer. */
export const canAsk = (): boolean => process.stdin.isTTY === true && process.stderr.isTTY === true

/** False without a terminal. */
export async function askYesNo(text: string, prompt: string): Promise<boolean> {
  if (!canAsk()) return false
  await writeErr(text)
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  // Ctrl-D and Ctrl-C mean no.
  const closed = new Promise<undefined>((resolve) => {
    lines.once('close', () => resolve(undefined))
  })
  lines.once('SIGINT', () => lines.close())
  try {
    return isYes(await Promise.race([lines.question(prompt).catch(() => undefined), closed]))
  } finally {
    lines.close()
  }
}

export const askTrust = (question: ChatTrust): Promise<boolean> => askYesNo(renderTrustQuestion(question), TRUST_PROMPT)
