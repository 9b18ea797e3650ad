/** What could stand at the cursor: commands, their words, files. Pure, but for what is asked of `Known`. */
import { COMMANDS } from '../../../chat/commands/table.ts'
import { printable } from '../../../lib/text.ts'
import { inWords } from '../../language.ts'
import type { Offer, Offers } from './offer.ts'
import type { TextLine } from './text-line.ts'

/** What is there now. */
export interface Known {
  agents(): readonly string[]
  rules(): readonly string[]
  tags(): readonly string[]
  tools(): readonly string[]
  prompts(): readonly { readonly name: string; readonly note: string }[]
  /** In a folder, given as it was typed; none where there is no such folder. */
  files(folder: string): readonly { readonly name: string; readonly isFolder: boolean }[]
}

export function offersFor({ text, at }: TextLine, known: Known): Offers {
  const typed = text.slice(0, at)
  const word = /(?:@?"[^"\n]*|\S*)$/.exec(typed.slice(-LONGEST_WORD))?.[0] ?? ''
  const from = at - word.length
  return { from, all: offersAt(typed.slice(0, from), word, known).filter(isSeen) }
}

/** Nothing that could be completed is longer. */
const LONGEST_WORD = 4096

/** A name that would tell the terminal what to do is not offered. */
const isSeen = ({ text, note = '' }: Offer): boolean => printable(text + note) === text + note

function offersAt(head: string, word: string, known: Known): readonly Offer[] {
  if (head === '' && word.startsWith('/')) return commandOffers(word)
  const called = /^\/(\S+)\s+([\s\S]*)$/.exec(head)
  const command = called && COMMANDS.find(({ name, aliases = [] }) => [name, ...aliases].includes(called[1] ?? ''))
  if (command) {
    const before = (called[2] ?? '').split(/\s+/).filter(Boolean)
    const words = before.length === 0 ? (command.words ?? []).map((text) => ({ text })) : []
    return [...begun(words, word), ...argumentOffers(command.name, before[0], word, known)]
  }
  if (!word.startsWith('@')) return []
  const prompts = head === '' ? known.prompts().map(({ name, note }) => ({ text: `@${name}`, note })) : []
  return [...begun(prompts, word), ...fileOffers(word.slice(1), known).map((one) => ({ ...one, text: `@${one.text}` }))]
}

const begun = (offers: readonly Offer[], word: string): readonly Offer[] =>
  offers.filter(({ text }) => text.startsWith(word))

const commandOffers = (word: string): readonly Offer[] =>
  begun(
    COMMANDS.map(({ name, help }) => ({ text: `/${name}`, note: inWords(help) })),
    word,
  )

type Source = (known: Known) => readonly string[]

const names: Source = () => COMMANDS.map(({ name }) => name)
const agents: Source = (known) => known.agents()
const rules: Source = (known) => known.rules()
const tags: Source = (known) => known.tags()
const tools: Source = (known) => known.tools()
const prompts: Source = (known) => known.prompts().map(({ name }) => name)

/** By command, and by its first word where that decides. */
const ARGUMENTS: { readonly [call: string]: Source | 'files' } = {
  help: names,
  attach: 'files',
  save: 'files',
  load: 'files',
  'agent show': agents,
  'agent swap': agents,
  'context add': 'files',
  'context remove': rules,
  'checkpoint expand': tags,
  'checkpoint diff': tags,
  'checkpoint restore': tags,
  'tools trust': tools,
  'tools untrust': tools,
  'prompts get': prompts,
  'prompts details': prompts,
  'prompts edit': prompts,
  'prompts remove': prompts,
}

function argumentOffers(command: string, first: string | undefined, word: string, known: Known): readonly Offer[] {
  const source = ARGUMENTS[command] ?? ARGUMENTS[`${command} ${first}`]
  if (source === undefined) return []
  if (source === 'files') return fileOffers(word, known)
  return begun(
    source(known).map((text) => ({ text })),
    word,
  )
}

/** With quotes where a name has spaces. Hidden ones only where a dot was typed. */
function fileOffers(typed: string, known: Known): readonly Offer[] {
  const isQuoted = typed.startsWith('"')
  const path = isQuoted ? typed.slice(1) : typed
  const folder = path.slice(0, path.lastIndexOf('/') + 1)
  const begin = path.slice(folder.length)
  return known
    .files(folder)
    .filter(({ name }) => name.startsWith(begin) && (begin.startsWith('.') || !name.startsWith('.')))
    .map(({ name, isFolder }) => {
      const whole = `${folder}${name}${isFolder ? '/' : ''}`
      const quoted = isQuoted || /\s/.test(whole) ? `"${whole}${isFolder ? '' : '"'}` : whole
      return isFolder ? { text: quoted, isOpen: true } : { text: quoted }
    })
}
