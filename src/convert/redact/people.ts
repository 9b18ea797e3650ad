/** Finds what names people: e-mail addresses, users in the paths of home directories, user names that are known. */
import type { Span } from './secrets.ts'

export interface People {
  /** As words, wherever they stand. */
  readonly users: readonly string[]
  /** A home directory that does not tell by its form that it is one. */
  readonly home?: string
}

/** Whoever uses this machine. */
export function peopleHere({ home, variables: { USER, USERNAME } }: Here): People {
  const users = [USER, USERNAME].flatMap((name) => (name && name !== 'root' ? name : []))
  return { users, home }
}

interface Here {
  readonly home: string
  readonly variables: { readonly [name: string]: string | undefined }
}

/** What stands for a user: `user-1`. */
const STAND_IN = /^user-\d+$/
/** Folders beside home directories that are nobody's, and words that stand for any user. */
const NOBODY = new Set([
  'shared',
  'public',
  'default',
  'all users',
  'linuxbrew',
  'user',
  'username',
  'root',
  'you',
  'me',
])
/** Too common as words to be taken for a name. */
const COMMON = new Set([
  ...['admin', 'administrator', 'app', 'build', 'code', 'codespace', 'dev', 'developer', 'docker', 'ec2-user', 'git'],
  ...['home', 'jenkins', 'node', 'runner', 'sandbox', 'test', 'ubuntu', 'vscode', 'work', 'www-data'],
])
const SHORTEST_WORD = 3

const isSomebody = (name: string): boolean => !STAND_IN.test(name) && !NOBODY.has(name.toLowerCase())

/** Names worth looking for as words. */
export const asWords = (names: Iterable<string>): readonly string[] =>
  [...new Set(names)].filter(
    (name) => name.length >= SHORTEST_WORD && isSomebody(name) && !COMMON.has(name.toLowerCase()),
  )

/** One that begins in ASCII ends where ASCII ends: in many scripts no space follows. */
const NAME = String.raw`(?:[A-Za-z0-9_][A-Za-z0-9._-]*|[\p{L}_][\p{L}\p{N}._-]*)`
const HOME = new RegExp(
  String.raw`((?:(?:\/|%2F)(?:home|Users)|\b[A-Za-z]:(?:\\{1,4}|\/)Users)(?:\/|%2F|\\{1,4}))(${NAME}(?:(?: ${NAME}){1,2}(?=[\\/]))?)`,
  'gu',
)
/** An escape before the address belongs to the text around it. */
const EMAIL =
  /(?:(\\[nrtbf])|(?<![A-Za-z0-9._%+-]))([A-Za-z0-9][A-Za-z0-9._%+-]{0,63}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,8}[A-Za-z]{2,24})/g
/** Names of pictures, of units of a system, and the user of a repository's address look like addresses. */
const NO_EMAIL = /^git@|@\dx\.\w+$|\.(?:service|socket|timer|target|mount|slice)$/i

/** The users that paths in a text name. */
export function usersIn(text: string): readonly string[] {
  return homesIn(text).map(({ start, end }) => text.slice(start, end))
}

export function findPeople(text: string, words: RegExp | undefined, home: string | undefined): readonly Span[] {
  const spans: Span[] = []
  if (text.includes('@')) addEmails(text, spans)
  if (/[/\\]|%2F/.test(text)) spans.push(...homesIn(text))
  if (words) for (const { 0: name, index } of text.matchAll(words)) spans.push(spanOf(index, name, 'user'))
  if (home !== undefined)
    for (let at = text.indexOf(home); at >= 0; at = text.indexOf(home, at + home.length))
      if (!/[\p{L}\p{N}_.-]/u.test(text[at + home.length] ?? '')) spans.push(spanOf(at, home, 'home'))
  return spans
}

function addEmails(text: string, spans: Span[]): void {
  for (const { 1: before = '', 2: address = '', index } of text.matchAll(EMAIL))
    if (!NO_EMAIL.test(address)) spans.push(spanOf(index + before.length, address, 'email'))
}

function homesIn(text: string): readonly Span[] {
  const spans: Span[] = []
  for (const { 1: before = '', 2: found = '', index } of text.matchAll(HOME)) {
    const name = found.replace(/[.-]+$/, '')
    if (isSomebody(name)) spans.push(spanOf(index + before.length, name, 'user'))
  }
  return spans
}

const spanOf = (start: number, text: string, kind: string): Span => ({ start, end: start + text.length, kind })

/** A pattern that finds any of the words where it is not a part of a longer one. Nothing where there are none. */
export function wordsPattern(words: readonly string[]): RegExp | undefined {
  if (words.length === 0) return undefined
  const longestFirst = [...words].sort((a, b) => b.length - a.length).map(literally)
  return new RegExp(`(?<![\\p{L}\\p{N}])(?:${longestFirst.join('|')})(?![\\p{L}\\p{N}])`, 'gu')
}

export const literally = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
