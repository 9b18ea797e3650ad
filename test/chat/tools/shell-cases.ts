/** Command lines for the shell fuzz test: ordinary and hostile ones, and how bash interprets them. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import type { PlainWord } from '../../../src/lib/shell/plain-commands.ts'
import { tempFolder } from '../../support/codex-log.ts'

const found = spawnSync('sh', ['-c', 'command -v bash'], { encoding: 'utf8' })
/** Absolute, because the recorder removes PATH. */
export const BASH = found.status === 0 ? found.stdout.trim() : ''
/** The recorder needs a newer bash than that of macOS. */
export const hasBash = process.platform === 'linux' && BASH !== ''
/** Some containers have strace but do not allow it. */
export const hasStrace =
  hasBash && spawnSync('strace', ['-f', '--seccomp-bpf', '-qq', '-o', '/dev/null', 'true']).status === 0

const READERS = ['ls', 'cat', 'echo', 'pwd', 'which', 'head', 'tail', 'find', 'grep', 'dir', 'type']

const WORDS = [
  ...[
    'a.txt',
    'sub',
    'sub/b.txt',
    './a.txt',
    '.',
    '-',
    '--',
    '-l',
    '-la',
    '-n',
    '-5',
    '-n2',
    '-r',
    '-rn',
    'x',
    'foo',
    '%s',
  ],
  ...[
    '-name',
    '-maxdepth',
    '0',
    '1',
    '-type',
    'f',
    '-print',
    '-o',
    '-not',
    '-print0',
    '--color',
    '-e',
    'HEAD~1',
    'a=b',
    'é',
    'あ',
  ],
  ...[
    'file with blank',
    'ls',
    'touch',
    'PWNED',
    '-c',
    'nowhere',
    '{}',
    '+',
    ';',
    '(',
    ')',
    '!',
    'a#b',
    '#',
    '~',
    '~root',
  ],
]
const HOSTILE = [
  ...[
    '{',
    '}',
    '{e..e}',
    '{a,b}',
    '{delete,print}',
    '*',
    '?',
    '[',
    ']',
    '[c]',
    '[!a]',
    '~',
    '$',
    '$x',
    `$\{x}`,
    '$(',
    '$((',
    ')',
  ],
  ...[
    '$(touch PWNED)',
    '`touch PWNED`',
    '`',
    "$'\\x74ouch'",
    '$"x"',
    '\\',
    '\\\n',
    "'",
    '"',
    "''",
    '""',
    '|',
    '|&',
    '||',
    '&',
    '&&',
  ],
  ...[
    ';',
    '\n',
    '\r',
    '\t',
    ' ',
    '\v',
    '\f',
    '\0',
    '\u00a0',
    '\u3000',
    '\u2003',
    '\u200b',
    '\ufeff',
    '\u0085',
    '\u2028',
    '\x1b',
  ],
  ...[
    '>',
    '>>',
    '>PWNED',
    '<',
    '<<',
    '<<<',
    '<(',
    '>(',
    '2>',
    '&>',
    '#',
    '!',
    '=',
    ':',
    '^',
    '%',
    '@',
    '+',
    ',',
    '-',
    '.',
    '/',
  ],
  ...[
    '-exec',
    '-delete',
    '-fprintf',
    '-ok',
    '-ex',
    'ec',
    '-f',
    '-F',
    '--follow',
    '--fol',
    '-P',
    '-files0-from',
    'PWNED',
    'touch',
  ],
  ...['\ud800', '😀', 'だ', 'ム', '\u0301', 'IFS', 'time', 'if', 'A=1', 'x[0]=1', 'coproc', '[[', '((', '1', 'a'],
]

const piece = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...WORDS) },
  { weight: 1, arbitrary: fc.constantFrom(...HOSTILE) },
)
const quoted = fc.oneof(
  { weight: 6, arbitrary: piece },
  { weight: 2, arbitrary: piece.map((text) => `'${text.replaceAll("'", "'\\''")}'`) },
  { weight: 2, arbitrary: piece.map((text) => `"${text}"`) },
  { weight: 1, arbitrary: piece.map((text) => text.replaceAll(/[^A-Za-z0-9]/gu, '\\$&')) },
  { weight: 1, arbitrary: fc.constantFrom('a*', './*', 'sub/?', 'a[.]txt', 's*/b*', '*', '-exe[c]', '[-]delete') },
)
const word = fc.oneof(
  { weight: 5, arbitrary: quoted },
  { weight: 1, arbitrary: fc.array(quoted, { minLength: 2, maxLength: 3 }).map((pieces) => pieces.join('')) },
)
const blank = fc.oneof(
  { weight: 12, arbitrary: fc.constant(' ') },
  { weight: 1, arbitrary: fc.constantFrom('\t', '  ', ' \t ') },
)

const simpleOf = (names: readonly string[]): fc.Arbitrary<string> =>
  fc
    .tuple(fc.constantFrom(...names), fc.array(fc.tuple(blank, word), { maxLength: 5 }))
    .map(([name, words]) => name + words.map((pair) => pair.join('')).join(''))

/** Inserts hostile text into a line, or removes parts. */
const mutated = (line: fc.Arbitrary<string>, hostile: readonly string[] = HOSTILE): fc.Arbitrary<string> =>
  fc
    .tuple(line, fc.array(fc.tuple(fc.nat(), fc.constantFrom('', ...hostile), fc.nat(2)), { maxLength: 2 }))
    .map(([text, changes]) =>
      changes.reduce((now, [at, put, gone]) => {
        const place = at % (now.length + 1)
        return now.slice(0, place) + put + now.slice(place + gone)
      }, text),
    )

const pipeOf = (names: readonly string[]): fc.Arbitrary<string> =>
  fc.array(simpleOf(names), { minLength: 1, maxLength: 3 }).map((commands) => commands.join(' | '))

/** A pipe, as typed by a model or by an attacker. */
const line = (names: readonly string[]): fc.Arbitrary<string> =>
  fc.oneof({ weight: 2, arbitrary: pipeOf(names) }, { weight: 3, arbitrary: mutated(pipeOf(names)) })

/** Complete expressions of `find`, most of which write: if one were accepted, the folder would change. */
const FIND_WORDS = [
  ...[
    '-name a.txt',
    '-type f',
    '-maxdepth 1',
    '-not',
    '-o',
    '-print',
    "-name '*.txt'",
    "-printf '%p'",
    '-size -10k',
    '-ls',
  ],
  ...['-delete', '"-delete"', '\\-delete', '-fprintf PWNED x', '-fprint PWNED', '-fls PWNED', '-exec touch PWNED {} +'],
  ...[
    '-exec touch PWNED \\;',
    "-execdir touch PWNED ';'",
    '-ok touch PWNED \\;',
    '-fprint0 PWNED',
    '-{delete,print}',
    '-delet[e]',
  ],
]
const findLine = fc
  .tuple(
    fc.constantFrom('.', './sub', 'sub a.txt', '', './*'),
    fc.array(fc.constantFrom(...FIND_WORDS), { maxLength: 3 }),
  )
  .map(([place, words]) => ['find', place, ...words].join(' '))

export const readerLine: fc.Arbitrary<string> = fc.oneof(
  { weight: 5, arbitrary: line(READERS) },
  { weight: 1, arbitrary: findLine },
  { weight: 1, arbitrary: mutated(findLine) },
)
export const plainLine: fc.Arbitrary<string> = line([...READERS, 'aa', 'bb', 'git', 'npm'])

/** Without slashes, because scripts are run and must not leave their folder. */
const SCRIPT_WORDS = [
  'aa',
  'bb',
  'x',
  '-n',
  "'a b'",
  '"a b"',
  '"$x"',
  '$x',
  `$\{x}`,
  '"$(bb y)"',
  '$(aa z)',
  '`bb y`',
  'a\\ b',
  '{a,b}',
  'a*',
  '~',
]
const SCRIPT_HOSTILE = HOSTILE.filter((text) => !text.includes('/') && !/touch|exec|time|coproc/.test(text))
const scriptCommand = fc
  .tuple(
    fc.constantFrom('', '', '', 'A=1 ', '! ', '>out ', '<in ', '2>&1 ', 'A=$(bb q) '),
    fc.constantFrom('aa', 'bb', 'ls', 'cat', '"aa"', "b'b'", '\\aa', 'a\\\na', '$x'),
    fc.array(fc.constantFrom(...SCRIPT_WORDS), { maxLength: 3 }),
    fc.constantFrom('', '', '', ' >out', ' 2>&1', ' &>out', ' <<<x', ' # aa hidden'),
  )
  .map(([before, name, words, after]) => before + [name, ...words].join(' ') + after)
const scriptOf = (inner: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 4, arbitrary: fc.array(inner, { minLength: 1, maxLength: 3 }).chain((parts) => joined(parts)) },
    { weight: 1, arbitrary: inner.map((text) => `(${text}\n)`) },
    { weight: 1, arbitrary: inner.map((text) => `{ ${text}\n}`) },
    { weight: 1, arbitrary: inner.map((text) => `if ${text}\nthen ${text}\nelse aa\nfi`) },
    { weight: 1, arbitrary: inner.map((text) => `for i in a b; do ${text}\ndone`) },
    { weight: 1, arbitrary: inner.map((text) => `set -- 1; for i do ${text}\ndone`) },
    { weight: 1, arbitrary: inner.map((text) => `aa "$(${text}\n)" b`) },
    { weight: 1, arbitrary: inner.map((text) => `aa <(${text}\n)`) },
    { weight: 1, arbitrary: inner.map((text) => `cat <<EOF\n${text}\nEOF`) },
    { weight: 1, arbitrary: inner.map((text) => `case x in x) ${text}\n;; esac`) },
  )
const joined = (parts: readonly string[]): fc.Arbitrary<string> =>
  fc
    .array(fc.constantFrom('; ', '\n', ' && ', ' || ', ' | ', ' & ', '\n\n', ' |& ', ';'), {
      minLength: parts.length,
      maxLength: parts.length,
    })
    .map((joints) => parts.map((part, at) => (at === 0 ? part : `${joints[at]}${part}`)).join(''))

/** A script of several commands, unchanged or with hostile insertions. */
export const scriptText: fc.Arbitrary<string> = fc.oneof(
  scriptOf(scriptCommand),
  scriptOf(scriptOf(scriptCommand)),
  mutated(scriptOf(scriptCommand), SCRIPT_HOSTILE),
  mutated(scriptOf(scriptOf(scriptCommand)), SCRIPT_HOSTILE),
)

/** A folder with files whose names could be expanded to options. */
export function hostileProject(): string {
  const folder = join(tempFolder(), 'project')
  mkdirSync(join(folder, 'sub'), { recursive: true })
  for (const name of [
    'a.txt',
    'a1',
    'é',
    'file with blank',
    '-exec',
    '-delete',
    '-f',
    'x',
    'foo',
    'sub/b.txt',
    'sub/-delete',
    '+',
    'touch',
  ])
    writeFileSync(join(folder, name), `foo ${name}\nx\n`)
  symlinkSync('a.txt', join(folder, 'link'))
  return folder
}

/** Everything in a folder that a command could change. */
export const snapshot = (folder: string): string =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => {
      const path = join(folder, name)
      const { mode, mtimeMs, ctimeMs, size } = statSync(path)
      return [name, mode, mtimeMs, ctimeMs, size, statSync(path).isFile() ? readFileSync(path, 'hex') : ''].join(' ')
    })
    .join('\n')

/** Whether arguments match the words; a pattern matches one or more names with the same beginning. */
export function areArguments(words: readonly PlainWord[], argv: readonly string[]): boolean {
  const [first, ...rest] = words
  if (!first) return argv.length === 0
  if (!first.isGlob) return argv[0] === first.value && areArguments(rest, argv.slice(1))
  const literal = /^[^*?[]*/.exec(first.value)?.[0] ?? ''
  const fits = (value: string): boolean => value === first.value || (literal !== '' && value.startsWith(literal))
  for (let count = 1; count <= argv.length && fits(argv[count - 1] ?? ''); count++)
    if (areArguments(rest, argv.slice(count))) return true
  return false
}

/** Started programs with their arguments. */
export type Started = readonly (readonly string[])[]

/**
 * Shell functions that replace every program and record its arguments. Each process writes its own file, because
 * concurrent writes would be mixed.
 */
export function recorder(names: readonly string[]): { readonly env: NodeJS.ProcessEnv; take(line?: number): Started } {
  const log = tempFolder()
  const body = (name: string): string => `() { printf '%s\\0' ${name} "$@" $'\\1' >> "${log}/$LINE.$BASHPID"; }`
  const env: NodeJS.ProcessEnv = { PATH: '/nonexistent', LC_ALL: 'C.UTF-8', LINE: '0' }
  for (const name of names) env[`BASH_FUNC_${name}%%`] = body(name)
  env['BASH_FUNC_command_not_found_handle%%'] = body('')
  const take = (line = 0): Started =>
    readdirSync(log)
      .filter((name) => name.startsWith(`${line}.`))
      .flatMap((name) => {
        const text = readFileSync(join(log, name), 'utf8')
        rmSync(join(log, name))
        return text.split('\x01\0').slice(0, -1)
      })
      .map((one) => one.split('\0').slice(0, -1))
  return { env, take }
}
