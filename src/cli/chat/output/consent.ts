/** What a tool is about to do, for who has to allow it, and what was answered. */
import type { Consent, TalkEvent } from '../../../chat.ts'
import { folded } from '../../../lib/text.ts'
import { visible } from '../../../model/told/visible.ts'
import { inWords, say } from '../../language.ts'
import { paint } from '../../view/paint.ts'
import { diffText, moreLines } from './diff.ts'
import { outputText } from './output-text.ts'

export type Question = Extract<TalkEvent, { kind: 'consent_needed' }>

const MOST_LINES = 40
const MOST_THEIRS = 15

/** @param isWhole nothing is folded */
export function questionText(
  { name, need }: Question,
  isWhole = false,
): { readonly text: string; readonly left: number } {
  const most = isWhole ? Number.POSITIVE_INFINITY : MOST_LINES
  const { command, diff, stale, reason } = need
  const summary = inWords(need.summary)
  const title = command !== undefined && summary.includes(command) ? name : `${name}: ${summary}`
  const commandPart = command === undefined ? { text: '', left: 0 } : commandText(command, most)
  const diffPart = diff === undefined || diff === '' ? { text: '', left: 0 } : diffText(diff, most)
  const text = [
    `${paint.yellow('?')} ${paint.bold(visible(title))}\n`,
    commandPart.text,
    diffPart.text,
    diff === '' ? paint.dim(say('    nothing would be other than it is\n', '    変更点はありません\n')) : '',
    stale ? staleText(stale.path, stale.diff, isWhole ? most : MOST_THEIRS) : '',
    reason === undefined ? '' : paint.red(`  ! ${visible(inWords(reason))}\n`),
  ].join('')
  return { text, left: commandPart.left + diffPart.left }
}

function commandText(command: string, most: number) {
  const lines = visible(command).split('\n')
  const left = lines.length - Math.min(most, lines.length)
  const shown = lines.slice(0, most).map((line) => `    ${line}\n`)
  return { text: shown.join('') + (left > 0 ? paint.dim(moreLines(left)) : ''), left }
}

function staleText(path: string, diff: string, most: number): string {
  const en = `${visible(path)} was changed by somebody else since the model saw it${diff === '' ? '.' : ':'}`
  const ja = `${visible(path)} は、モデルが見た後に別の誰かが変更しています${diff === '' ? '。' : '：'}`
  const head = paint.yellow(`  ${say(en, ja)}\n`)
  return diff === '' ? head : head + diffText(diff, most).text
}

/** @param left lines that are not shown */
export function choicesText(name: string, left: number, columns: number): string {
  const whole = left > 0 ? say(' · d all lines', ' · [d] 全行を表示') : ''
  const text = say(
    `  y yes · n no · t trust ${name} for this session${whole} · or say what to do instead`,
    `  [y] はい · [n] いいえ · [t] この会話では ${name} を今後も許可${whole} · または代わりにしてほしいことを入力`,
  )
  return paint.dim(outputText(text, columns).trimEnd())
}

export const CONSENT_MARK = say('Allow it? [y/n/t] ', '実行しますか？ [y/n/t] ')

/** Nothing said is a no. The words of the question will do, and letters as a Japanese keyboard gives them. */
export function consentOf(said: string): Consent {
  const word = wordIn(said)
  if (['y', 'yes', 'はい'].includes(word)) return 'yes'
  if (word === 't' || word === 'trust') return 'trust'
  return ['n', 'no', 'いいえ', ''].includes(word) ? 'no' : { text: said.trim() }
}

/** Whether all lines are asked for. */
export const isAll = (said: string): boolean => wordIn(said) === 'd'

const wordIn = (said: string): string => folded(said.trim())
