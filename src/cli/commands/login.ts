/** `fumi login`: stores the API key of a model server without showing it. */
import type { Command } from 'commander'
import { PRESETS } from '../../chat/endpoint/endpoint.ts'
import { fetchModels, resolveEndpoint } from '../../chat/open/open-chat.ts'
import { changeConfig, readConfig } from '../../config/config.ts'
import { thisMachine } from '../../lib/files/data-directory.ts'
import { AppError } from '../../model/error.ts'
import { defineCommand } from '../define-command.ts'
import { localize, say } from '../language.ts'
import { writeErr, writeOut } from '../output.ts'
import { plural } from '../view/table.ts'

interface Options {
  readonly check: boolean
  readonly remove?: boolean
}

export function loginCommand(program: Command): void {
  defineCommand(program, 'login', 'store the API key of a model server', 'モデルサーバーの API キーを保存')
    .argument(
      '<profile>',
      'openai, anthropic, or a profile from fumi config',
      'openai、anthropic、または fumi config で追加したプロファイル',
    )
    .option('--no-check', 'do not ask the server whether it accepts the key', 'サーバーにキーを確認しない')
    .option('--remove', 'remove the stored key', '保存したキーを削除')
    .note(
      'The key is typed without echo, or read from standard input. It is stored in config.json in the data directory, which only you can read.',
      'キーは画面に表示せずに入力するか、標準入力から読み取ります。データディレクトリーの config.json に、本人だけが読める形で保存します。',
    )
    .examples('fumi login openai', 'pass show openai | fumi login openai', 'fumi login openai --remove')
    .run(run)
}

async function run(profile: string, { check, remove }: Options): Promise<void> {
  const machine = thisMachine()
  const known = readConfig(machine, { agents: [] }).profiles
  if (!known.has(profile) && !Object.hasOwn(PRESETS, profile)) {
    const names = [...new Set([...known.keys(), ...Object.keys(PRESETS)])].join(', ')
    throw new AppError(
      'bad_usage',
      `Unknown profile "${profile}". Available: ${names}. To add one: fumi config profiles.${profile}.url <url>`,
      `プロファイル「${profile}」はありません。使えるのは ${names} です。追加するには: fumi config profiles.${profile}.url <URL>`,
    )
  }
  const setting = `profiles.${profile}.key`
  if (remove) {
    changeConfig(machine, { agents: [] }, setting, undefined)
    await writeOut(say(`Removed the key of ${profile}.\n`, `${profile} のキーを削除しました。\n`))
    return
  }
  const key = await readKey(say(`API key of ${profile}: `, `${profile} の API キー: `))
  changeConfig(machine, { agents: [] }, setting, [key])
  const config = readConfig(machine, { agents: [] })
  await writeOut(say(`Stored in ${config.file}.\n`, `${config.file} に保存しました。\n`))
  if (check) await checkKey(profile, { environment: machine, config })
}

type ChatConfig = Parameters<typeof resolveEndpoint>[1]

/** A key that is not accepted stays stored: the server may be down. */
async function checkKey(profile: string, chatConfig: ChatConfig): Promise<void> {
  try {
    const models = await fetchModels(resolveEndpoint({ profile }, chatConfig))
    await writeOut(
      say(
        `${profile} accepts it: ${plural(models.length, 'model')}. Start with fumi chat --profile ${profile}.\n`,
        `${profile} がキーを受け付けました（モデル ${models.length} 件）。fumi chat --profile ${profile} で始められます。\n`,
      ),
    )
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    await writeErr(`fumi: ${localize(error.phrase)}\n`)
    process.exitCode = 10
  }
}

const isControl = (character: string): boolean => character < ' ' || character === '\u007f'

/** From a terminal without echo, otherwise the first line of standard input. Throws `bad_usage` if it is empty. */
async function readKey(prompt: string): Promise<string> {
  const key = (process.stdin.isTTY ? await readHidden(prompt) : await readFirstLine()).trim()
  if (key !== '') return key
  throw new AppError(
    'bad_usage',
    'No key given. Nothing was stored.',
    'キーが入力されていません。何も保存していません。',
  )
}

async function readFirstLine(): Promise<string> {
  let text = ''
  for await (const piece of process.stdin) text += String(piece)
  return text.split('\n', 1)[0] ?? ''
}

async function readHidden(prompt: string): Promise<string> {
  const { stdin } = process
  await writeErr(prompt)
  stdin.setRawMode(true)
  stdin.setEncoding('utf8')
  let key = ''
  try {
    for await (const piece of stdin)
      for (const character of String(piece).replaceAll(/\u001b\[20[01]~/g, '')) {
        if (character === '\r' || character === '\n') return key
        if (character === '\u0003' || character === '\u0004') return ''
        if (character === '\u007f' || character === '\b') key = key.slice(0, -1)
        else if (character === '\u0015') key = ''
        else if (!isControl(character)) key += character
      }
    return key
  } finally {
    stdin.setRawMode(false)
    stdin.pause()
    await writeErr('\n')
  }
}
