/** A summary of what was cut, made of facts, in as much room as there is. */
import { byteLength } from '../../model/tokens/estimate.ts'
import type { ConversationFacts } from './facts.ts'

/** @param bytes it is no longer, except that its first line always stands */
export function buildSummary(facts: ConversationFacts, turns: number, bytes: number): string {
  const { messages, from, to } = facts
  const time = from !== undefined && to !== undefined ? `, from ${from} to ${to}` : ''
  const first = `The beginning of this conversation was left out: ${pluralizeNoun(turns, 'turn')}, ${pluralizeNoun(messages, 'message')}${time}.`
  const sections = fillSections(facts, bytes - byteLength(first))
  return [first, ...sections].join('\n')
}

const pluralizeNoun = (number: number, word: string): string => `${number} ${word}${number === 1 ? '' : 's'}`

interface SummarySection {
  readonly title: string
  readonly lines: readonly string[]
  /** How many of the last are told. */
  shownLines: number
}

/** Each section in turn gets one line more, the latest first, as long as there is room. */
function fillSections(facts: ConversationFacts, availableBytes: number): readonly string[] {
  const sections: SummarySection[] = [
    { title: 'Still to do:', lines: facts.todos, shownLines: 0 },
    { title: 'Files:', lines: facts.files, shownLines: 0 },
    { title: 'Commands:', lines: facts.commands, shownLines: 0 },
    { title: 'Asked:', lines: facts.asked, shownLines: 0 },
  ]
  let remaining = availableBytes
  for (let grew = true; grew; ) {
    grew = false
    for (const section of sections) {
      const line = section.lines.at(-1 - section.shownLines)
      if (section.shownLines >= section.lines.length || line === undefined) continue
      // The title, and the note that there are more, are paid for with the first line.
      const cost =
        byteLength(line) +
        LINE_MARKER_BYTES +
        (section.shownLines === 0 ? byteLength(section.title) + MAX_NOTE_BYTES : 0)
      if (cost > remaining) continue
      remaining -= cost
      section.shownLines++
      grew = true
    }
  }
  const summary = facts.summary === undefined ? [] : fitSummary(facts.summary, remaining)
  return [...summary, ...sections.filter(({ shownLines }) => shownLines > 0).flatMap(sectionLines)]
}

/** `\n- ` */
const LINE_MARKER_BYTES = 3
/** `\n` before the title, and the longest note. */
const MAX_NOTE_BYTES = 24

function sectionLines({ title, lines, shownLines }: SummarySection): readonly string[] {
  const more = lines.length - shownLines
  const note = more > 0 ? [`- (${more} earlier)`] : []
  return [title, ...note, ...lines.slice(lines.length - shownLines).map((line) => `- ${line}`)]
}

const EARLIER_SUMMARY_TITLE = 'Summary of what was before that:'

/** An earlier summary is told whole or not at all. */
function fitSummary(summary: string, availableBytes: number): readonly string[] {
  return byteLength(summary) + byteLength(EARLIER_SUMMARY_TITLE) + 2 <= availableBytes
    ? [EARLIER_SUMMARY_TITLE, summary]
    : []
}
