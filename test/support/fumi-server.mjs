/**
 * Runs commands of the built program one after the other, each as the program does. Requests come as
 * lines of JSON from descriptor 3; each reply goes to descriptor 4, with its length before it.
 */
import { createReadStream, writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { Worker } from 'node:worker_threads'
import { main } from '../../dist/cli/main.js'

const STREAMS = [process.stdout, process.stderr]
process.setMaxListeners(0)

/** In a thread of its own, because a command may block this one. */
const guard = new Worker(
  `const { parentPort } = require('node:worker_threads')
   let timer
   parentPort.on('message', (ms) => {
     clearTimeout(timer)
     if (ms !== undefined) timer = setTimeout(() => process.kill(process.pid, 'SIGKILL'), ms)
   })`,
  { eval: true },
)
guard.unref()

for await (const line of createInterface({ input: createReadStream('', { fd: 3 }) })) {
  const reply = Buffer.from(JSON.stringify(await run(JSON.parse(line))))
  const length = Buffer.alloc(4)
  length.writeUInt32LE(reply.length)
  write(Buffer.concat([length, reply]))
}

async function run({ args, env, cwd, timeout }) {
  for (const name of Object.keys(process.env)) if (!Object.hasOwn(env, name)) delete process.env[name]
  Object.assign(process.env, env)
  process.chdir(cwd)
  process.argv = [process.execPath, 'fumi', ...args]
  process.exitCode = undefined
  if (timeout !== undefined) guard.postMessage(timeout)
  const captured = STREAMS.map(capture)
  try {
    await main()
  } finally {
    guard.postMessage(undefined)
  }
  const [out, err] = captured.map((end) => end())
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.removeAllListeners(signal)
  return { code: process.exitCode ?? 0, out, err }
}

/** Collects what is written, until the returned function is called. */
function capture(stream) {
  const pieces = []
  const original = stream.write
  stream.write = (piece, encoding, done) => {
    pieces.push(typeof piece === 'string' ? Buffer.from(piece) : Buffer.from(piece))
    const callback = typeof encoding === 'function' ? encoding : done
    if (callback) process.nextTick(callback)
    return true
  }
  return () => {
    stream.write = original
    stream.removeAllListeners('error')
    return Buffer.concat(pieces).toString('utf8')
  }
}

function write(bytes) {
  for (let at = 0; at < bytes.length; ) at += writeSync(4, bytes, at)
}
