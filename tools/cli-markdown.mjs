/** Builds pages from the program's help: the marked parts of docs/cli.md, and all of docs/cli.ja.md. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The current text of both pages, by path. In docs/cli.md only the marked parts are replaced. */
export function cliPages(root) {
  return {
    'docs/cli.md': filled(readFileSync(join(root, 'docs/cli.md'), 'utf8'), described('en')),
    'docs/cli.ja.md': pageInJapanese(described('ja')),
  }
}

/** Runs a separate process, because a process chooses its language once. */
function described(language) {
  const env = { ...process.env, FUMI_LANGUAGE: language }
  const { stdout, stderr, status } = spawnSync(process.execPath, [join(import.meta.dirname, 'cli-describe.mjs')], {
    env,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(stderr)
  return JSON.parse(stdout)
}

const MARKED = /<!-- (usage|options|examples) (\S+) -->\n[\s\S]*?<!-- \/\1 -->/g

/** `<!-- options list -->…<!-- /options -->` holds the options of `fumi list`; `usage` and `examples` work the same way. */
function filled(page, commands) {
  const missing = new Set(commands.flatMap(partsOf))
  const text = page.replaceAll(MARKED, (_, kind, name) => {
    const command = commands.find((one) => one.name === name)
    if (!command) throw new Error(`docs/cli.md: there is no command ${name}.`)
    missing.delete(`${kind} ${name}`)
    return `<!-- ${kind} ${name} -->\n${PARTS[kind](command)}\n<!-- /${kind} -->`
  })
  if (missing.size > 0) throw new Error(`docs/cli.md lacks the marks of: ${[...missing].join(', ')}.`)
  return text
}

const PARTS = {
  usage: (command) => usageText(command),
  options: ({ options }) => optionTable(options, 'option', noteInEnglish),
  examples: ({ after }) =>
    after
      .split(/\n{2,}/)
      .filter(isExamples)
      .map(exampleBlock)
      .join('\n\n'),
}

const partsOf = ({ name, options, after }) => [
  `usage ${name}`,
  ...(options.length > 0 ? [`options ${name}`] : []),
  ...(after.split(/\n{2,}/).some(isExamples) ? [`examples ${name}`] : []),
]

function pageInJapanese([program, ...commands]) {
  const parts = [
    '# コマンド',
    '<!-- Made by npm run cli-docs from the help of the program. -->',
    '`fumi` と `fumibako` は同じコマンドです。ここにあるのは `fumi help <command>` が表示する内容です。出力の形式、終了コード、環境変数などの詳しい説明は[英語のページ](cli.md)にあります。',
    ...sectionOf(program),
    ...commands.flatMap((command) => [`## fumi ${command.name}`, ...sectionOf(command)]),
  ]
  return `${parts.join('\n\n')}\n`
}

function sectionOf({ usage, summary, arguments: given, options, after }) {
  return [
    usageText({ usage }),
    inText(summary),
    ...(given.length > 0 ? [table('引数', given.map(argumentRow))] : []),
    ...(options.length > 0 ? [optionTable(options, 'オプション', noteInJapanese)] : []),
    ...(after === '' ? [] : after.split(/\n{2,}/).map(afterText)),
  ]
}

const argumentRow = (one) => [`\`${one.name}\``, inText(one.description) + noteInJapanese(one)]

/** Examples are a title and indented lines; any other block below the help is a note. */
const isExamples = (block) => /^.+:(\n {2}.+)+$/.test(block)

const afterText = (block) =>
  isExamples(block) ? `${block.split('\n')[0]}\n\n${exampleBlock(block)}` : inText(block.replaceAll('\n', ' '))

/** In the help, a remark follows a command after a wide gap; in a shell block it needs a `#`. */
const exampleBlock = (block) => {
  const [, ...lines] = block.split('\n')
  return `\`\`\`sh\n${lines.map((line) => line.slice(2).replace(/ {3,}(?=\S)/, '$&# ')).join('\n')}\n\`\`\``
}

const usageText = ({ usage }) => `\`${usage}\``

const optionTable = (options, head, note) =>
  table(
    head,
    options.map((one) => [`\`${one.flags}\``, inText(one.description) + note(one)]),
  )

const code = (values) => values.map((one) => `\`${one}\``)

function noteInEnglish({ choices, usual }) {
  const parts = [
    ...(choices ? [code(choices).join(', ')] : []),
    ...(usual === undefined ? [] : [`default: ${code([usual])}`]),
  ]
  return parts.length === 0 ? '' : ` (${parts.join('; ')})`
}

function noteInJapanese({ choices, usual }) {
  const parts = [
    ...(choices ? [`${code(choices).join('、')} のどれか`] : []),
    ...(usual === undefined ? [] : [`既定: ${code([usual])}`]),
  ]
  return parts.length === 0 ? '' : `（${parts.join('。')}）`
}

/** Options, variables and other text to type. */
const TYPED = /(?<![\w-])--?[a-z][a-z-]*(?![\w-])|(?<!\S)-(?!\S)|(?<!\S)\/[a-z0-9]+(?![\w/])|\b[A-Z]+_[A-Z_]*[A-Z]\b/g
const COMMAND = /\bfumi (?!alone\b)([a-z]+)/g

/** Marks up typed text, links commands to their sections, and escapes Markdown. */
const inText = (text) =>
  text
    .replaceAll(/[\\*<]/g, '\\$&')
    .replaceAll(TYPED, '`$&`')
    .replaceAll(COMMAND, '[$&](#fumi-$1)')

const table = (head, rows) =>
  [`| ${head} | |`, '|---|---|', ...rows.map((row) => `| ${row.map(inCell).join(' | ')} |`)].join('\n')

const inCell = (text) => text.replaceAll('|', '\\|').replaceAll('\n', ' ')
