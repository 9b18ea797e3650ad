/** Programs that only read, and with which arguments they do. */
import { type PlainCommand, parsePlainPipe } from '../../../lib/shell/plain-commands.ts'
import { type Phrase, phrase } from '../../../model/phrase.ts'

const FIND_WRITES = phrase('find runs, deletes or writes something', 'find が何かを実行・削除・書き込みします')
const GREP_PERL = phrase('grep runs a Perl expression', 'grep が Perl の式を実行します')
const TAIL_WAITS = phrase('tail waits for more', 'tail が追記を待ち続けます')

type ArgumentCheck = (values: readonly string[]) => Phrase | undefined

/** Neither writes nor runs anything, whatever its options are. */
const ANY: ArgumentCheck = () => undefined

/** What a program may not be given; options are looked at wherever they stand, also where they might be an argument of another. */
const READERS: ReadonlyMap<string, ArgumentCheck> = new Map([
  ['ls', ANY],
  ['dir', ANY],
  ['cat', ANY],
  ['echo', ANY],
  ['pwd', ANY],
  ['which', ANY],
  ['type', ANY],
  ['head', ANY],
  ['tail', (values) => (values.every(isQuietTail) ? undefined : TAIL_WAITS)],
  ['find', (values) => (values.every(isReadingFind) ? undefined : FIND_WRITES)],
  ['grep', (values) => (values.some(isPerl) ? GREP_PERL : undefined)],
])

export const isReadOnlyProgram = (name: string): boolean => READERS.has(name)

/** Why a command of a known reader may do more than read; nothing for all others. */
export function findArgumentDanger({ words: [name, ...rest] }: PlainCommand): Phrase | undefined {
  return READERS.get(name?.value ?? '')?.(rest.map(({ value }) => value))
}

/** The same for a program by its name and arguments: it is a known reader and does nothing else. */
export const readsOnly = (name: string, values: readonly string[]): boolean =>
  isReadOnlyProgram(name) && READERS.get(name)?.(values) === undefined

/** Only by its words: which file bash takes for the program, and which files it reads, is not looked at. */
export const isReadingCommand = ({ words: [name, ...rest] }: PlainCommand): boolean =>
  readsOnly(
    name?.value ?? '',
    rest.map(({ value }) => value),
  )

/** The commands of a pipe in which all only read; nothing for any other line. */
export function parseReadingPipe(line: string): readonly PlainCommand[] | undefined {
  const pipe = parsePlainPipe(line)
  return pipe.ok && pipe.commands.every(isReadingCommand) ? pipe.commands : undefined
}

/** No `-f`, `-F`, `--follow`, `--retry` or `--pid`, in any spelling; nor `+5f`. */
const isQuietTail = (value: string): boolean =>
  !/^[-+]./.test(value) ||
  /^-[qvzr]*(?:[ncb](?:[-+]?\d+[a-zA-Z]{0,3})?)?$/.test(value) ||
  /^[-+]\d+[a-zA-Z]?$/.test(value.replace(/f$/i, '!')) ||
  /^--(?:lines|bytes|quiet|silent|verbose|zero-terminated|help|version)(?:=.*)?$/.test(value)

const isPerl = (value: string): boolean => /^-[^-]*P/.test(value) || /^--p/.test(value)

/** Of `find`: tests, harmless actions, operators and what looks like one but is a number. */
const FIND_OPTIONS = new Set(
  [
    '-H -L -P -E -s -x -d -depth -maxdepth -mindepth -mount -xdev -noleaf -follow -daystart -regextype -warn -nowarn',
    '-ignore_readdir_race -noignore_readdir_race -help --help -version --version',
    '-amin -anewer -atime -cmin -cnewer -ctime -empty -executable -false -fstype -gid -group -ilname -iname -inum -ipath',
    '-iregex -iwholename -links -lname -mmin -mtime -name -newer -nogroup -nouser -path -perm -readable -regex -samefile',
    '-size -true -type -uid -used -user -wholename -writable -xtype',
    '-print -print0 -printf -ls -prune -quit -a -and -o -or -not',
  ].flatMap((line) => line.split(' ')),
)

const isReadingFind = (value: string): boolean =>
  !value.startsWith('-') || FIND_OPTIONS.has(value) || /^-(?:O\d|newer[aBcm][aBcmt]|\d+[a-zA-Z]?)?$/.test(value)
