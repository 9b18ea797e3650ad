/** `fumi service`: a background service of the system that backs up conversations as they appear. */
import { realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import type { App } from '../../app.ts'
import { AppError } from '../../model/error.ts'
import { defineCommand, JSON_OPTION } from '../define-command.ts'
import { say } from '../language.ts'
import { writeOut, writeOutJson } from '../output.ts'
import { defineService, type ServiceDefinition, variablesToPassOn } from '../service/definition.ts'
import { installService, type ServiceStatus, serviceStatus, uninstallService } from '../service/manager.ts'

interface Options {
  readonly print?: boolean
  readonly json?: boolean
}

const ACTIONS = ['install', 'status', 'uninstall'] as const

export function serviceCommand(program: Command): void {
  defineCommand(
    program,
    'service',
    'back up in the background, as a service of the system',
    'システムのサービスとして、背後でバックアップ',
  )
    .argument('<action>', 'install, status or uninstall', 'install、status、uninstall のどれか')
    .option('--print', 'with install, print the definition and change nothing', 'install と使い、定義を表示するだけ')
    .option(...JSON_OPTION)
    .examples('fumi service install', 'fumi service status', 'fumi service uninstall')
    .note(
      'It runs fumi backup --watch for your user at the lowest priority, and starts when you log in.',
      'fumi backup --watch を自分の権限、最低の優先度で実行し、ログインしたときに始まります。',
    )
    .runWithApp(runService)
}

async function runService(app: App, action: string, options: Options): Promise<void> {
  const known = ACTIONS.find((one) => one === action)
  if (!known)
    throw new AppError(
      'bad_usage',
      `Unknown action "${action}". Available: ${ACTIONS.join(', ')}.`,
      `「${action}」という操作はありません。使えるのは ${ACTIONS.join('、')} です。`,
    )
  const definition = definitionFor(app)
  if (known === 'install' && options.print) return writeOut(definition.content)
  if (known === 'install') installService(definition)
  const removed = known === 'uninstall' && uninstallService(definition)
  const status = serviceStatus(definition)
  if (options.json)
    return writeOutJson({ kind: definition.kind, path: definition.path, ...status, ...(removed && { removed }) })
  await writeOut(`${describeResult(known, definition, status, removed)}\n`)
}

function definitionFor({ environment, directory }: App): ServiceDefinition {
  const program = realpathSync(fileURLToPath(new URL('../../bin/fumi.js', import.meta.url)))
  const variables = { ...variablesToPassOn(environment.variables), FUMI_HOME: directory }
  const definition = defineService(environment, { node: process.execPath, program, directory, variables })
  if (definition) return definition
  throw new AppError(
    'bad_usage',
    `fumi knows no service manager of ${environment.platform}. Run fumi backup --watch yourself.`,
    `${environment.platform} のサービス管理には対応していません。fumi backup --watch を自分で実行してください。`,
  )
}

function describeResult(
  action: (typeof ACTIONS)[number],
  { path }: ServiceDefinition,
  { installed, running, problem }: ServiceStatus,
  removed: boolean,
): string {
  if (action === 'uninstall')
    return removed
      ? say(`Removed ${path}. Backups stay.`, `${path} を取り除きました。バックアップは残っています。`)
      : say('There was no service.', 'サービスは登録されていません。')
  if (!installed)
    return say(
      'Not installed. To install it: fumi service install',
      '登録されていません。登録するには: fumi service install',
    )
  if (running === undefined)
    return say(
      `Installed (${path}), but its manager does not answer: ${problem}`,
      `登録されています（${path}）。ただし管理プログラムが応答しません: ${problem}`,
    )
  return running
    ? say(`Running (${path}).`, `動いています（${path}）。`)
    : say(
        `Installed but not running (${path}). To start it again: fumi service install`,
        `登録されていますが、動いていません（${path}）。もう一度始めるには: fumi service install`,
      )
}
