/** `fumi backup --to` and `--from`: exchange with other machines through a folder. */
import { resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import type { App } from '../../app.ts'
import { readRegularFile } from '../../lib/files/regular-file.ts'
import { AppError } from '../../model/error.ts'
import { say } from '../language.ts'
import { writeErr, writeOut, writeOutJson } from '../output.ts'
import { formatBytes, formatCount, plural } from '../view/table.ts'

export interface ExchangeOptions {
  readonly to?: string
  readonly from?: string
  readonly passphraseFile?: string
  readonly json?: boolean
}

const PASSPHRASE_VARIABLE = 'FUMI_EXCHANGE_PASSPHRASE'

/** Takes over what is there first, so that one command does both. */
export async function exchangeBackups(app: App, options: ExchangeOptions): Promise<void> {
  const passphrase = await readPassphrase(options.passphraseFile)
  if (options.from !== undefined) await receive(app, resolve(options.from), passphrase, options.json === true)
  if (options.to !== undefined) await send(app, resolve(options.to), passphrase, options.json === true)
}

async function receive(app: App, folder: string, passphrase: string, json: boolean): Promise<void> {
  const report = await app.backups.receive(folder, passphrase)
  const { machines, unreadable_machines, outdated_machines } = report
  if (json) await writeOutJson({ from: folder, ...report })
  else
    for (const { machine, ...counts } of machines) {
      const parts = [
        say(`${formatCount(counts.new)} new`, `新規 ${formatCount(counts.new)}`),
        say(`${formatCount(counts.changed)} changed`, `変更 ${formatCount(counts.changed)}`),
        say(`${formatCount(counts.unchanged)} unchanged`, `変更なし ${formatCount(counts.unchanged)}`),
        ...(counts.erased > 0
          ? [say(`${formatCount(counts.erased)} erased`, `消去 ${formatCount(counts.erased)}`)]
          : []),
      ]
      await writeOut(`${machine.name}: ${parts.join(say(', ', '、'))}\n`)
      if (counts.waiting > 0)
        await writeErr(
          say(
            `fumi: ${plural(counts.waiting, 'session')} of ${machine.name} not complete in the folder yet. Run the command again later.\n`,
            `fumi: ${machine.name} の会話 ${formatCount(counts.waiting)} 件は、まだフォルダーにそろっていません。後でもう一度実行してください。\n`,
          ),
        )
      if (counts.unreadable > 0)
        await writeErr(
          say(
            `fumi: ${plural(counts.unreadable, 'session')} of ${machine.name} damaged in the folder. Run fumi backup --to there again.\n`,
            `fumi: ${machine.name} の会話 ${formatCount(counts.unreadable)} 件がフォルダーの中で壊れています。そのマシンで fumi backup --to をもう一度実行してください。\n`,
          ),
        )
    }
  if (!json && machines.length + outdated_machines.length === 0)
    await writeOut(
      say(
        'No other machine has written to this folder yet.\n',
        'ほかのマシンはまだこのフォルダーに書き込んでいません。\n',
      ),
    )
  for (const id of outdated_machines)
    await writeErr(
      say(
        `fumi: machines/${id} is older than what was taken over before, and was left out. Run fumi backup --to there again.\n`,
        `fumi: machines/${id} は前に取り込んだものより古いため、取り込みませんでした。そのマシンで fumi backup --to をもう一度実行してください。\n`,
      ),
    )
  for (const id of unreadable_machines)
    await writeErr(
      say(
        `fumi: machines/${id} cannot be read: it is incomplete, damaged or has another passphrase.\n`,
        `fumi: machines/${id} を読めません。そろっていないか、壊れているか、パスフレーズが違います。\n`,
      ),
    )
}

async function send(app: App, folder: string, passphrase: string, json: boolean): Promise<void> {
  const sent = await app.backups.send(folder, passphrase)
  if (json) return writeOutJson({ to: folder, ...sent })
  await writeOut(
    say(
      `${plural(sent.items, 'session')} of ${sent.machine.name} in ${folder}; ${formatBytes(sent.written_bytes)} written, encrypted.\n`,
      `${sent.machine.name} の会話 ${formatCount(sent.items)} 件が ${folder} にあります。暗号化して ${formatBytes(sent.written_bytes)} を書き込みました。\n`,
    ),
  )
}

/** Undefined if it was not given and cannot be asked for. */
export async function findPassphrase(file: string | undefined): Promise<string | undefined> {
  const fromVariable = process.env[PASSPHRASE_VARIABLE]
  if (file !== undefined)
    return readRegularFile(file)
      .toString()
      .replace(/\r?\n$/, '')
  if (fromVariable !== undefined && fromVariable !== '') return fromVariable
  return process.stdin.isTTY && process.stderr.isTTY ? askPassphrase() : undefined
}

async function readPassphrase(file: string | undefined): Promise<string> {
  const found = await findPassphrase(file)
  if (found !== undefined) return found
  throw new AppError(
    'bad_usage',
    `A passphrase is needed: --passphrase-file <file>, or the variable ${PASSPHRASE_VARIABLE}.`,
    `パスフレーズが必要です。--passphrase-file <ファイル> か、変数 ${PASSPHRASE_VARIABLE} で指定してください。`,
  )
}

/** Shows nothing of what is typed. */
async function askPassphrase(): Promise<string> {
  await writeErr(say('Passphrase of the folder: ', 'フォルダーのパスフレーズ: '))
  const hidden = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output: hidden, terminal: true })
  try {
    return await lines.question('')
  } finally {
    lines.close()
    await writeErr('\n')
  }
}
