/** `fumi token`: prints the token of the API, or a link that signs a browser in. */
import type { Command } from 'commander'
import type { App } from '../../app.ts'
import { AppError } from '../../model/error.ts'
import { createSignInCode, readToken, rotateToken, signInLink } from '../../server/guard/sign-in.ts'
import { findLastStartedServer, type RunningServer } from '../../server/running-servers.ts'
import { defineCommand } from '../define-command.ts'
import { writeOut } from '../output.ts'

interface Options {
  readonly rotate?: boolean
  readonly link?: boolean
  readonly header?: boolean
}

export function tokenCommand(program: Command): void {
  defineCommand(
    program,
    'token',
    'print the token that scripts send to the API',
    'スクリプトが API に送るトークンを表示',
  )
    .option(
      '--rotate',
      'make a new one; the old one and every open browser are locked out',
      '新しく作り直す。古いトークンと開いているブラウザーは使えなくなる',
    )
    .option(
      '--link',
      'print a link to the running server instead; it signs one browser in, once, within 60 seconds',
      '代わりに、実行中のサーバーへのリンクを表示。ブラウザー 1 つが 60 秒以内に 1 回だけサインインできる',
    )
    .option(
      '--header',
      'print it as a header for curl -H @-, which keeps it out of the command line',
      'curl -H @- に渡すヘッダーとして表示（コマンドラインにトークンが残らない）',
    )
    .examples(
      'fumi token --header | curl -H @- http://localhost:4680/api/sessions',
      'fumi token --link',
      'fumi token --rotate',
    )
    .runWithApp(printToken)
}

async function printToken(app: App, { rotate = false, link = false, header = false }: Options): Promise<void> {
  if (link && header)
    throw new AppError(
      'bad_usage',
      'Pass either --link or --header.',
      '--link と --header は、どちらか一方だけを指定してください。',
    )
  const token = rotate ? rotateToken(app.directory) : readToken(app.directory)
  const server = link ? findRunningServer(app.directory) : undefined
  const text = server ? signInLink(server.url, createSignInCode(token, server.instance)) : token
  await writeOut(`${header ? 'Authorization: Bearer ' : ''}${text}\n`)
}

function findRunningServer(directory: string): RunningServer {
  const server = findLastStartedServer(directory)
  if (server) return server
  throw new AppError(
    'not_found',
    'no server is running. Start one with fumi serve.',
    'サーバーは実行されていません。fumi serve で起動してください。',
  )
}
