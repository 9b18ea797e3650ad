/**
 * The permission question: shows what a tool would do, quoted so that it cannot imitate our own text, and parses the
 * answer.
 */
import type { ToolConsent } from '../../../chat/open/open-chat.ts'
import { findDangerousAdditions, findDangerSpans } from '../../../chat/tools/permission/danger.ts'
import { ruleLabel, type UserRule } from '../../../chat/tools/permission/rules.ts'
import type { CallNeed } from '../../../chat/tools/tool.ts'
import { foldText } from '../../../lib/text.ts'
import { createExcerpt, type Excerpt, type ExcerptGap, type TextSpan } from '../../../model/excerpt.ts'
import { toVisible, toVisibleCommand } from '../../../model/hostile-characters.ts'
import { localize, say } from '../../language.ts'
import { paint } from '../../view/paint.ts'
import { formatCount, plural, truncate } from '../../view/table.ts'
import { splitGraphemes, textWidth } from '../../view/text-width.ts'
import { renderCommandOutput } from './command-output.ts'
import { diffColor } from './tool-result.ts'

/** Starts every row of quoted text, also the wrapped ones. */
const LINE_START = '  │ '
const CONTINUED_START = '  ┆ '
const DANGEROUS_START = '! │ '
const DANGEROUS_CONTINUED_START = '! ┆ '
const OMITTED_START = '  ⋮ '
const TAB_SPACES = '    '

interface QuotedBlockOptions {
  readonly columns: number
  readonly rows: number
  readonly spell: (text: string) => string
  readonly danger?: readonly TextSpan[]
  readonly isWhole?: boolean
  readonly shade?: (line: string) => (row: string) => string
}

interface QuotedBlock {
  readonly text: string
  readonly isCut: boolean
}

const EMPTY_BLOCK: QuotedBlock = { text: '', isCut: false }

function renderQuotedBlock(text: string, options: QuotedBlockOptions): QuotedBlock {
  const { shade = () => (row) => row, spell } = options
  const columns = Math.max(16, options.columns - LINE_START.length - 1)
  const excerpt = createExcerpt(text, {
    ...options,
    spell: (part) => spell(part).replaceAll('\t', TAB_SPACES),
    columns,
    widthOf: textWidth,
  })
  return { text: renderRows(excerpt, columns, shade), isCut: excerpt.isCut }
}

function renderRows({ rows }: Excerpt, columns: number, shade: (line: string) => (row: string) => string): string {
  let out = ''
  let colour = shade('')
  for (const row of rows) {
    if (row.kind === 'gap') {
      out += paint.dim(`${OMITTED_START}${formatGap(row.what, row.count)}\n`)
      continue
    }
    const { text, isContinued, isDangerous } = row
    if (!isContinued) colour = isDangerous ? paint.red : shade(text)
    for (const [at, part] of wrapText(text, columns).entries()) {
      const isContinuation = isContinued || at > 0
      const rowStart = isDangerous
        ? paint.red(isContinuation ? DANGEROUS_CONTINUED_START : DANGEROUS_START)
        : paint.dim(isContinuation ? CONTINUED_START : LINE_START)
      out += `${rowStart}${colour(part)}\n`
    }
  }
  return out
}

function formatGap(what: ExcerptGap, n: number): string {
  switch (what) {
    case 'lines':
      return say(`${plural(n, 'line')} not shown`, `${formatCount(n)} 行を省略`)
    case 'characters':
      return say(`${plural(n, 'character')} not shown`, `${formatCount(n)} 文字を省略`)
    case 'blank':
      return say(plural(n, 'blank line'), `空行 ${formatCount(n)} 行`)
    case 'spaces':
      return say(plural(n, 'space'), `空白 ${formatCount(n)} 個`)
  }
}

/** Wraps at the exact column, so that a command is shown without changes. */
function wrapText(text: string, columns: number): readonly string[] {
  const rows: string[] = []
  let row = ''
  let used = 0
  for (const character of splitGraphemes(text)) {
    const width = textWidth(character)
    if (used + width > columns) {
      rows.push(row)
      row = ''
      used = 0
    }
    row += character
    used += width
  }
  return [...rows, row]
}

export interface ConsentQuestion {
  readonly name: string
  readonly need: CallNeed
}

const MAX_ROWS = 40
const OWN_ROWS = 8
const MIN_ROWS = 8
/** The purpose is the model's own claim, so it gets little space. */
const MAX_PURPOSE_ROWS = 2
const MAX_STALE_ROWS = 12
const MAX_NAME_WIDTH = 64

interface ScreenSize {
  readonly columns: number
  readonly rows: number
}

interface RenderedQuestion {
  readonly text: string
  readonly isCut: boolean
  /** The command or the arguments are not shown completely. The user must see them before allowing them. */
  readonly isUnseen: boolean
}

export function renderQuestion({ name, need }: ConsentQuestion, screen: ScreenSize, isFull = false): RenderedQuestion {
  const { columns } = screen
  const rows = isFull
    ? Number.POSITIVE_INFINITY
    : Math.max(MIN_ROWS, Math.min(MAX_ROWS, screen.rows - OWN_ROWS - (need.stale ? MAX_STALE_ROWS : 0)))
  const block = (text: string, more: Partial<QuotedBlockOptions> = {}): QuotedBlock =>
    // A pager scrolls sideways, so nothing is cut there.
    renderQuotedBlock(text, { columns, rows, spell: toVisible, ...(isFull && { isWhole: isFull }), ...more })
  const { command, args, diff, stale, reason } = need
  const ran =
    command !== undefined
      ? block(command, { spell: toVisibleCommand, danger: findDangerSpans(command) })
      : args !== undefined
        ? block(args, { danger: findDangerSpans(args) })
        : EMPTY_BLOCK
  const change = diff ? block(diff.trimEnd(), { danger: findDangerousAdditions(diff), shade: diffColor }) : EMPTY_BLOCK
  const renderWords = (text: string): string => block(toOneLine(text), isFull ? {} : { rows: MAX_PURPOSE_ROWS }).text
  const renderStaleDiff = (text: string): string =>
    text === '' ? '' : block(text.trimEnd(), isFull ? {} : { rows: MAX_STALE_ROWS, shade: diffColor }).text
  const text = [
    paint.bold(prefixLines(paint.yellow('? '), `${displayName(name)} ${questionTitle(need)}`, columns, '  ')),
    command === undefined ? renderWords(summaryLabel(localize(need.summary), args)) : '',
    ran.text,
    change.text,
    diff === '' ? paint.dim(say('  No changes to the file.\n', '  変更点はありません。\n')) : '',
    command !== undefined && need.purpose
      ? `${say('  Purpose, written by the model:', '  目的（モデルの言葉）：')}\n${renderWords(need.purpose)}`
      : '',
    stale ? renderStaleWarning(renderWords(stale.path), renderStaleDiff(stale.diff)) : '',
    reason === undefined ? '' : paint.red(prefixLines('  ! ', toVisible(toOneLine(localize(reason))), columns)),
  ].join('')
  return { text, isCut: ran.isCut || change.isCut, isUnseen: ran.isCut }
}

function questionTitle({ command, args, diff }: ConsentQuestion['need']): string {
  if (command !== undefined) return say('wants to run this command:', 'が次のコマンドの実行を求めています：')
  if (args !== undefined) return say('wants to run with these arguments:', 'が次の引数での呼び出しを求めています：')
  return diff === undefined
    ? say('wants to do this:', 'が次の操作を求めています：')
    : say('wants to make this change:', 'が次の変更を求めています：')
}

/** Drops the arguments from the summary: they have a block of their own. */
const summaryLabel = (summary: string, args: string | undefined): string =>
  args === undefined ? summary : (summary.split(' {')[0] ?? '')

const toOneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()

const displayName = (name: string): string => truncate(toVisible(toOneLine(name)), MAX_NAME_WIDTH)

/** Starts each row with a prefix, so that no row starts with text that is not ours. */
const prefixLines = (prefix: string, text: string, columns: number, nextPrefix = prefix): string =>
  renderCommandOutput(text, columns - textWidth(prefix))
    .trimEnd()
    .split('\n')
    .map((line, at) => `${at === 0 ? prefix : nextPrefix}${line}\n`)
    .join('')

const renderStaleWarning = (path: string, change: string): string =>
  paint.yellow(
    say('  This file changed since the model last read it:\n', '  モデルが読んだ後に変更されたファイルです：\n'),
  ) +
  path +
  change

export function renderConsentChoices(
  name: string,
  isCut: boolean,
  columns: number,
  rule: UserRule | undefined = undefined,
): string {
  const tool = displayName(name)
  const label = rule && ruleLabel(rule)
  const shown = label && truncate(toVisible(toOneLine(localize(label))), MAX_NAME_WIDTH)
  const choices = [
    say('y yes', '[y] はい'),
    say('n no', '[n] いいえ'),
    ...(shown === undefined
      ? []
      : [
          say(`s allow "${shown}" in this chat`, `[s] このチャットでは「${shown}」を許可`),
          say('a always in this directory', '[a] このディレクトリーでは常に許可'),
        ]),
    say(`t trust ${tool} for this session`, `[t] この会話では ${tool} を今後も許可`),
    ...(isCut ? [say('v view all', '[v] 全体を表示')] : []),
    say('or type what to do instead', 'または代わりにしてほしいことを入力'),
  ]
  return paint.dim(packChoices(choices, columns))
}

/** Lines break between choices. */
function packChoices(choices: readonly string[], columns: number): string {
  const lines: string[] = []
  for (const choice of choices) {
    const joined = `${lines.at(-1)} · ${choice}`
    if (lines.length > 0 && textWidth(`  ${joined}`) < columns) lines[lines.length - 1] = joined
    else lines.push(choice)
  }
  return lines.map((line) => renderCommandOutput(`  ${line}`, columns).trimEnd()).join('\n')
}

export const renderUnseenWarning = (): string =>
  paint.yellow(
    say(
      '  Part of this is hidden. Type v to view everything first.',
      '  表示されていない部分があります。先に [v] で全体を確認してください。',
    ),
  )

export const CONSENT_PROMPT = say('Allow it? [y/n/t] ', '実行しますか？ [y/n/t] ')

/** An empty answer means no. Accepts the words of the question, and letters as a Japanese keyboard sends them. */
/** @param hasRule whether `s` and `a` were offered */
export function parseConsent(answer: string, hasRule = false): ToolConsent {
  const word = normalizeAnswer(answer)
  if (hasRule && word === 's') return 'allow_session'
  if (hasRule && word === 'a') return 'allow_always'
  if (['y', 'yes', 'はい'].includes(word)) return 'yes'
  if (word === 't' || word === 'trust') return 'trust'
  return ['n', 'no', 'いいえ', ''].includes(word) ? 'no' : { text: answer.trim() }
}

/** Whether the user wants to see everything; older versions used `d`. */
export const isViewAll = (answer: string): boolean => ['v', 'd'].includes(normalizeAnswer(answer))

const normalizeAnswer = (answer: string): string => foldText(answer.trim())
