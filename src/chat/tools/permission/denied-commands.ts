/** Rules of `deniedCommands`: whether one of them forbids a command, or might. */
import { isFullyKnown } from '../../../lib/shell/script.ts'
import { looseTexts, tailsOf } from './loose-texts.ts'
import { programBaseName, type StartedProgram, type StartedPrograms } from './started-programs.ts'

export interface CommandRule {
  matches(text: string): boolean
  /** False only when no text that begins with this one is matched. */
  couldMatch(beginning: string): boolean
  /** Whether a text begins with a command that the rule matches, whatever follows; by its fixed words where it has some. */
  matchesStartOf(text: string): boolean
}

/** A regular expression for a whole command; nothing when it cannot be read. `(?i)` in front is the one flag of Amazon Q's dialect. */
export function parseCommandRule(source: string): CommandRule | undefined {
  const isFolded = source.startsWith('(?i)')
  const body = isFolded ? source.slice(4) : source
  const flags = isFolded ? 'i' : ''
  try {
    const patterns = ['', 's'].map((more) => new RegExp(`^(?:${body})$`, flags + more))
    const fold = (text: string): string => (isFolded ? text.toLowerCase() : text)
    const prefix = fold(literalPrefix(body))
    const name = prefix.trimEnd()
    // `touch .*` names `touch`, and `touch.*` also `touchy`.
    const isWhole = name !== prefix || prefix === fold(body)
    const isNamed = (text: string): boolean =>
      text.startsWith(name) && !(isWhole && /^[\w-]/.test(text.slice(name.length)))
    const matches = (text: string): boolean => patterns.some((pattern) => pattern.test(text))
    return {
      matches,
      matchesStartOf: (text) =>
        name === '' ? matches(text) || matches(/^[^;&|()\n]*/.exec(text)?.[0].trimEnd() ?? '') : isNamed(fold(text)),
      couldMatch: (beginning) => prefix.startsWith(fold(beginning)) || fold(beginning).startsWith(prefix),
    }
  } catch {
    return undefined
  }
}

/** The characters with which every text begins that the expression matches. */
function literalPrefix(body: string): string {
  if (body.includes('|')) return ''
  let prefix = ''
  for (let at = body.startsWith('^') ? 1 : 0; at < body.length; at++) {
    const isEscaped = body.charAt(at) === '\\' && /^[^A-Za-z0-9]$/.test(body.charAt(at + 1))
    if (isEscaped) at++
    const character = body.charAt(at)
    const isLiteral = isEscaped ? /^[!-~ ]$/.test(character) : /^[A-Za-z0-9 _/:=,@%&'"<>~;-]$/.test(character)
    if (!isLiteral || /^[*?{]/.test(body.slice(at + 1))) return prefix
    prefix += character
  }
  return prefix
}

/**
 * Whether a rule matches one of the commands, wherever it is: as typed, without quotes, and by the program's file name alone.
 * `maybe`: the shell could run a command that cannot be seen, and no rule excludes it; or a program is given such a command in its
 * arguments and might run it.
 */
export function checkDenied(
  rules: readonly CommandRule[],
  command: string,
  all: StartedPrograms,
): 'yes' | 'maybe' | 'no' {
  if (rules.length === 0) return 'no'
  const texts = [command, command.trim(), ...all.texts, ...all.started.flatMap(textsOf)]
  if (texts.some((text) => rules.some((rule) => rule.matches(text)))) return 'yes'
  const isOpen = all.started.some((one) =>
    beginningsOf(one).some((beginning) => rules.some((rule) => rule.couldMatch(beginning))),
  )
  return isOpen || !all.isCertain || looseTexts(all).some((text) => isMentioned(rules, text)) ? 'maybe' : 'no'
}

const isMentioned = (rules: readonly CommandRule[], text: string): boolean =>
  tailsOf(text)?.some((tail) => rules.some((rule) => rule.matchesStartOf(tail))) ?? true

function textsOf({ words: [name, ...rest] }: StartedProgram): readonly string[] {
  if (!name) return []
  const after = rest.map(({ value }) => ` ${value}`).join('')
  return [name.value + after, programBaseName(name.value) + after]
}

/** What is sure of a command before something in it is expanded; nothing where all is known. */
function beginningsOf({ words }: StartedProgram): readonly string[] {
  const at = words.findIndex((word) => !isFullyKnown(word))
  const open = words[at]
  if (!open) return []
  const known = [...words.slice(0, at).map(({ value }) => value), open.value.slice(0, open.known)]
  const [name = '', ...rest] = known
  return [known.join(' '), [at === 0 ? '' : programBaseName(name), ...rest].join(' ')]
}
