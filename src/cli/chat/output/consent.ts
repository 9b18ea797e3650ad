/** What a tool is about to do, for who has to allow it, and what was answered. */
import { dangerousAdditions, dangerSpans } from '../../../chat/tools/allow/danger-spans.ts'
import type { Consent, TalkEvent } from '../../../chat.ts'
import { folded } from '../../../lib/text.ts'
import { visible, visibleCommand } from '../../../model/told/visible.ts'
import { inWords, say } from '../../language.ts'
import { paint } from '../../view/paint.ts'
import { truncate } from '../../view/table.ts'
import { widthOf } from '../width.ts'
import { type Block, type BlockOptions, blockText, NO_BLOCK } from './block.ts'
import { shadeOf } from './diff.ts'
import { outputText } from './output-text.ts'

export type Question = Extract<TalkEvent, { kind: 'consent_needed' }>

/** Of the question; our own lines need some of them. */
const MOST_ROWS = 40
const OWN_ROWS = 8
const FEWEST_ROWS = 8
/** For what the model says about a call, which is not what it does. */
const MOST_WORDS_ROWS = 2
const MOST_THEIRS = 12
const LONGEST_NAME = 64

export interface Screenful {
  readonly columns: number
  readonly rows: number
}

export interface QuestionText {
  readonly text: string
  /** Something of it is not shown. */
  readonly isCut: boolean
  /** What would run is not shown completely: it must be seen before it can be allowed. */
  readonly isUnseen: boolean
}

/** @param isWhole nothing is left out */
export function questionText({ name, need }: Question, screen: Screenful, isWhole = false): QuestionText {
  const { columns } = screen
  const rows = isWhole
    ? Number.POSITIVE_INFINITY
    : Math.max(FEWEST_ROWS, Math.min(MOST_ROWS, screen.rows - OWN_ROWS - (need.stale ? MOST_THEIRS : 0)))
  const block = (text: string, more: Partial<BlockOptions> = {}): Block =>
    // A pager scrolls sideways and back: nothing of a line is left out there.
    blockText(text, { columns, rows, spell: visible, ...(isWhole && { isWhole }), ...more })
  const { command, args, diff, stale, reason } = need
  const ran =
    command !== undefined
      ? block(command, { spell: visibleCommand, danger: dangerSpans(command) })
      : args !== undefined
        ? block(args, { danger: dangerSpans(args) })
        : NO_BLOCK
  const change = diff ? block(diff.trimEnd(), { danger: dangerousAdditions(diff), shade: shadeOf }) : NO_BLOCK
  const words = (text: string): string => block(flat(text), isWhole ? {} : { rows: MOST_WORDS_ROWS }).text
  const theirs = (text: string): string =>
    text === '' ? '' : block(text.trimEnd(), isWhole ? {} : { rows: MOST_THEIRS, shade: shadeOf }).text
  const text = [
    paint.bold(ownLines(paint.yellow('? '), `${nameOf(name)} ${headOf(need)}`, columns, '  ')),
    command === undefined ? words(labelOf(inWords(need.summary), args)) : '',
    ran.text,
    change.text,
    diff === '' ? paint.dim(say('  The file stays as it is.\n', '  変更点はありません。\n')) : '',
    command !== undefined && need.purpose
      ? `${say('  Purpose, in the words of the model:', '  目的（モデルの言葉）：')}\n${words(need.purpose)}`
      : '',
    stale ? staleText(words(stale.path), theirs(stale.diff)) : '',
    reason === undefined ? '' : paint.red(ownLines('  ! ', visible(flat(inWords(reason))), columns)),
  ].join('')
  return { text, isCut: ran.isCut || change.isCut, isUnseen: ran.isCut }
}

function headOf({ command, args, diff }: Question['need']): string {
  if (command !== undefined) return say('asks to run this command:', 'が次のコマンドの実行を求めています：')
  if (args !== undefined) return say('asks to be called with:', 'が次の引数での呼び出しを求めています：')
  return diff === undefined
    ? say('asks to do this:', 'が次の操作を求めています：')
    : say('asks to make this change:', 'が次の変更を求めています：')
}

/** Arguments stand in a block of their own. */
const labelOf = (summary: string, args: string | undefined): string =>
  args === undefined ? summary : (summary.split(' {')[0] ?? '')

/** On one line. */
const flat = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()

const nameOf = (name: string): string => truncate(visible(flat(name)), LONGEST_NAME)

/** Each row begins with a mark: no row begins with words that are not ours. */
const ownLines = (mark: string, text: string, columns: number, nextMark = mark): string =>
  outputText(text, columns - widthOf(mark))
    .trimEnd()
    .split('\n')
    .map((line, at) => `${at === 0 ? mark : nextMark}${line}\n`)
    .join('')

const staleText = (path: string, change: string): string =>
  paint.yellow(
    say('  This file changed since the model last read it:\n', '  モデルが読んだ後に変更されたファイルです：\n'),
  ) +
  path +
  change

/** @param isCut something is not shown */
export function choicesText(name: string, isCut: boolean, columns: number): string {
  const tool = nameOf(name)
  const whole = isCut ? say(' · v view all', ' · [v] 全体を表示') : ''
  const text = say(
    `  y yes · n no · t trust ${tool} for this session${whole} · or say what to do instead`,
    `  [y] はい · [n] いいえ · [t] この会話では ${tool} を今後も許可${whole} · または代わりにしてほしいことを入力`,
  )
  return paint.dim(outputText(text, columns).trimEnd())
}

/** The answer to a yes that comes too early. */
export const unseenText = (): string =>
  paint.yellow(
    say(
      '  Part of this is not shown. Type v to view all of it first.',
      '  表示されていない部分があります。先に [v] で全体を確認してください。',
    ),
  )

export const CONSENT_MARK = say('Allow it? [y/n/t] ', '実行しますか？ [y/n/t] ')

/** Nothing said is a no. The words of the question will do, and letters as a Japanese keyboard gives them. */
export function consentOf(said: string): Consent {
  const word = wordIn(said)
  if (['y', 'yes', 'はい'].includes(word)) return 'yes'
  if (word === 't' || word === 'trust') return 'trust'
  return ['n', 'no', 'いいえ', ''].includes(word) ? 'no' : { text: said.trim() }
}

/** Whether all of it is asked for; `d` is what older versions called it. */
export const isAll = (said: string): boolean => ['v', 'd'].includes(wordIn(said))

const wordIn = (said: string): string => folded(said.trim())
