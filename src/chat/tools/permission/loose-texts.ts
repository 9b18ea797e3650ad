/** Words with which a program might be told to run or read something, in a way that is not modelled. */
import { readsOnly } from './read-only-programs.ts'
import type { StartedProgram, StartedPrograms } from './started-programs.ts'

/**
 * The arguments, variables and redirections of each command as one text. Readers are left out: all that they do with their words
 * is judged exactly, as long as what they print goes nowhere.
 */
export function looseTexts({ started, texts }: StartedPrograms): readonly string[] {
  const isPassedOn =
    started.some((one) => one.isPiped && !isQuietReader(one)) || texts.some((text) => /`|\$\(|[<>]\(/.test(text))
  return started
    .filter((one) => isPassedOn || !isQuietReader(one))
    .map(({ words, assignments, redirects }) =>
      [...assignments, ...words.slice(1), ...redirects.map(({ target }) => target)]
        .map(({ value }) => value)
        .join(' ')
        .replaceAll(/[^\S\n]+/g, ' '),
    )
}

/** A program such as `cat` that writes no file. */
function isQuietReader({ words: [name, ...rest], assignments, redirects }: StartedProgram): boolean {
  const values = rest.map(({ value }) => value)
  const writes = redirects.some(
    ({ operator, target }) => operator.includes('>') && !/^(?:\/dev\/null|\d+|-)$/.test(target.value),
  )
  return !writes && assignments.length === 0 && readsOnly(name?.value ?? '', values)
}

/** More places in a text are not looked at. */
const MOST_PLACES = 2000

/**
 * What follows each place where a command or a name may begin: a word, or any letter of an option such as `-qctouch`. Quotes and
 * backslashes are also taken out, because the program may do so. Nothing where there are too many places.
 */
export function tailsOf(text: string): readonly string[] | undefined {
  const bare = text.replaceAll(/['"\\]/g, '')
  const tails = (bare === text ? [text] : [text, bare]).flatMap((one) => placesIn(one).map((at) => one.slice(at)))
  return tails.length > MOST_PLACES ? undefined : tails
}

function placesIn(text: string): readonly number[] {
  const places = new Set<number>()
  for (const { index } of text.matchAll(/(?<![\w-])\S|[^\w\s-]/g)) places.add(index)
  for (const { 0: option, index } of text.matchAll(/(?<![\w-])-\w+/g))
    for (let at = 2; at < option.length; at++) places.add(index + at)
  return [...places].slice(0, MOST_PLACES + 1)
}
