/** A summary of what was cut, made of facts, in as much room as there is. */
import { byteLength } from '../../model/tokens/estimate.ts'
import type { Gathered } from './facts.ts'

/** @param bytes it is no longer, except that its first line always stands */
export function summaryText(facts: Gathered, turns: number, bytes: number): string {
  const { messages, from, to } = facts
  const time = from !== undefined && to !== undefined ? `, from ${from} to ${to}` : ''
  const first = `The beginning of this conversation was left out: ${count(turns, 'turn')}, ${count(messages, 'message')}${time}.`
  const sections = fill(facts, bytes - byteLength(first))
  return [first, ...sections].join('\n')
}

const count = (number: number, word: string): string => `${number} ${word}${number === 1 ? '' : 's'}`

interface Section {
  readonly title: string
  readonly lines: readonly string[]
  /** How many of the last are told. */
  told: number
}

/** Each section in turn gets one line more, the latest first, as long as there is room. */
function fill(facts: Gathered, room: number): readonly string[] {
  const sections: Section[] = [
    { title: 'Still to do:', lines: facts.todos, told: 0 },
    { title: 'Files:', lines: facts.files, told: 0 },
    { title: 'Commands:', lines: facts.commands, told: 0 },
    { title: 'Asked:', lines: facts.asked, told: 0 },
  ]
  let left = room
  for (let grew = true; grew; ) {
    grew = false
    for (const section of sections) {
      const line = section.lines.at(-1 - section.told)
      if (section.told >= section.lines.length || line === undefined) continue
      // The title, and the note that there are more, are paid for with the first line.
      const cost = byteLength(line) + MARKS + (section.told === 0 ? byteLength(section.title) + NOTE : 0)
      if (cost > left) continue
      left -= cost
      section.told++
      grew = true
    }
  }
  const summary = facts.summary === undefined ? [] : fitted(facts.summary, left)
  return [...summary, ...sections.filter(({ told }) => told > 0).flatMap(linesOf)]
}

/** `\n- ` */
const MARKS = 3
/** `\n` before the title, and the longest note. */
const NOTE = 24

function linesOf({ title, lines, told }: Section): readonly string[] {
  const more = lines.length - told
  const note = more > 0 ? [`- (${more} earlier)`] : []
  return [title, ...note, ...lines.slice(lines.length - told).map((line) => `- ${line}`)]
}

const EARLIER = 'Summary of what was before that:'

/** An earlier summary is told whole or not at all. */
function fitted(summary: string, room: number): readonly string[] {
  return byteLength(summary) + byteLength(EARLIER) + 2 <= room ? [EARLIER, summary] : []
}
