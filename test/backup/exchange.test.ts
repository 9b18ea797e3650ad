/** Two machines exchange what they have backed up through a folder. */
import { spawn } from 'node:child_process'
import { createCipheriv, randomBytes, scryptSync } from 'node:crypto'
import { once } from 'node:events'
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openKeys } from '../../src/backup/exchange/keys.ts'
import { readManifest, writeManifest } from '../../src/backup/exchange/manifest.ts'
import { openSealedFile, sealFile } from '../../src/backup/exchange/sealed-file.ts'
import { sha256 } from '../../src/lib/hash.ts'
import { makeStore, stateOf } from '../support/amazon-q-store.ts'
import { header, tempFolder, text, user } from '../support/codex-log.ts'
import { threadOf } from '../support/many-logs.ts'
import { fumi, fumiPath } from '../support/run-fumi.ts'
import { rollout } from '../support/test-home.ts'

const PASSPHRASE = 'correct horse battery'

/** A folder with a key whose passphrase is checked a thousand times faster than that of a key made by the program. */
function folderWithKey(folder = tempFolder()): string {
  const [id, salt, nonce] = [randomBytes(8).toString('hex'), randomBytes(16), randomBytes(12)]
  const parameters = { N: 1 << 7, r: 8, p: 1 }
  const cipher = createCipheriv('aes-256-gcm', scryptSync(PASSPHRASE, salt, 32, parameters), nonce)
  cipher.setAAD(Buffer.from(id))
  const key = Buffer.concat([cipher.update(randomBytes(32)), cipher.final(), cipher.getAuthTag()]).toString('base64')
  const kdf = { name: 'scrypt', ...parameters, salt: salt.toString('base64') }
  const content = { format: 'fumibako exchange key', version: 1, kdf, nonce: nonce.toString('base64'), key }
  mkdirSync(join(folder, 'keys'), { recursive: true })
  writeFileSync(join(folder, 'keys', `${id}.json`), JSON.stringify(content))
  return folder
}

function machine() {
  const home = tempFolder()
  const env = {
    HOME: home,
    FUMI_HOME: join(home, 'fumi'),
    XDG_DATA_HOME: join(home, 'data'),
    CODEX_HOME: join(home, '.codex'),
    FUMI_EXCHANGE_PASSPHRASE: PASSPHRASE,
  }
  const cwd = join(home, 'work')
  mkdirSync(cwd)
  const run = (...args: readonly string[]) => fumi(args, { env, cwd })
  return {
    home,
    cwd,
    env,
    run,
    json: (...args: readonly string[]) => {
      const { code, out, err } = run(...args, '--json')
      expect({ args, code, err }).toEqual({ args, code: 0, err: '' })
      return JSON.parse(out)
    },
    log(n: number, ...words: readonly string[]): string {
      const path = join(home, rollout(threadOf(n)))
      mkdirSync(join(path, '..'), { recursive: true })
      writeFileSync(
        path,
        text([header({ id: threadOf(n), cwd: '/w/app' }), ...words.map((one, at) => user(at + 1, one))]),
      )
      return path
    },
  }
}

const filesBelow = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())

const pieceFiles = (folder: string): readonly string[] => filesBelow(folder).filter((path) => path.includes('pieces'))

test('sessions of another machine are listed, searched and resumed here', () => {
  const folder = tempFolder()
  const [a, b] = [machine(), machine()]
  const path = a.log(1, 'The walrus was here.')
  const store = makeStore(join(a.home, 'data', 'amazon-q', 'data.sqlite3'))
  store.put('/w/q', stateOf('q-one', [{ prompt: 'A question for the albatross?', answer: 'Yes.' }]))
  store.close()
  expect(a.json('backup', '--to', folder)).toMatchObject({ items: 2, tombstones: 0 })
  const received = b.json('backup', '--from', folder)
  expect(received.machines).toMatchObject([{ new: 2, changed: 0, waiting: 0, unreadable: 0 }])
  const { name } = received.machines[0].machine
  const { sessions } = b.json('list')
  expect(
    sessions.map(({ id, path: at }: { id: string; path: string }) => [id, at.startsWith(`${name}:`)]).sort(),
  ).toEqual([
    ['amazon-q:q-one', true],
    [`codex:${threadOf(1)}`, true],
  ])
  expect(b.json('search', 'walrus').total).toBe(1)
  expect(b.json('search', 'albatross').total).toBe(1)
  expect(b.run('restore', threadOf(1), '--to', '-').out).toBe(readFileSync(path, 'utf8'))
  const done = b.json('restore', threadOf(1), '--here')
  expect(done.path).toBe(join(b.home, rollout(threadOf(1))))
  expect(done.resume).toContain(b.cwd)
  expect(readFileSync(done.path, 'utf8')).toBe(readFileSync(path, 'utf8').replaceAll('"/w/app"', JSON.stringify(b.cwd)))
  // It stays one session, which is resumed here, also on the machine that it came from.
  const onlyOne = ({ json }: typeof a): readonly { readonly id: string; readonly cwd: string }[] =>
    json('list').sessions.filter(({ native_id }: { native_id: string }) => native_id === threadOf(1))
  expect(onlyOne(b)).toMatchObject([{ id: `codex:${threadOf(1)}`, cwd: b.cwd, path: done.path }])
  appendFileSync(done.path, text([user(9, 'The walrus is here now.')]))
  expect(b.json('search', 'walrus').total).toBe(2)
  b.json('backup', '--to', folder)
  a.json('backup', '--from', folder)
  expect(onlyOne(a)).toMatchObject([{ id: `codex:${threadOf(1)}` }])
  expect(a.json('search', 'walrus').total).toBe(2)
  const own = makeStore(join(b.home, 'data', 'amazon-q', 'data.sqlite3'))
  own.close()
  expect(b.json('restore', 'q-one', '--here').store).toBe(own.path)
  expect(b.json('list', own.path).sessions).toMatchObject([{ title: 'A question for the albatross?' }])
})

test('nothing readable is in the folder: no word, name, path or hash', () => {
  const folder = folderWithKey()
  const a = machine()
  const content = readFileSync(a.log(1, 'The walrus was here.'))
  a.json('backup', '--to', folder)
  const files = filesBelow(folder)
  const names = files.join('\n')
  const all = Buffer.concat(files.map((file) => readFileSync(file))).toString('latin1')
  for (const secret of ['walrus', 'rollout', threadOf(1), a.home, 'codex', sha256(content), PASSPHRASE])
    expect([secret, all.includes(secret), names.replaceAll(folder, '').includes(secret)]).toEqual([
      secret,
      false,
      false,
    ])
})

test('what grows adds only new pieces; what is unchanged is not read again', () => {
  const folder = folderWithKey()
  const [a, b] = [machine(), machine()]
  const path = a.log(1, 'One.')
  a.log(2, 'Another.')
  a.json('backup', '--to', folder)
  b.json('backup', '--from', folder)
  appendFileSync(path, text([user(9, 'The pelican came later.')]))
  expect(a.json('backup', '--to', folder)).toMatchObject({ items: 2, written_pieces: 1, removed_pieces: 1 })
  expect(b.json('backup', '--from', folder).machines).toMatchObject([{ new: 0, changed: 1, unchanged: 1 }])
  expect(b.json('search', 'pelican').total).toBe(1)
  expect(b.json('list').total).toBe(2)
  expect(b.json('backup', '--verify')).toMatchObject({ ok: true })
})

test('two machines that begin at once do not disturb each other', async () => {
  const folder = tempFolder()
  const machines = [machine(), machine()]
  for (const [n, { log }] of machines.entries())
    for (let at = 0; at < 5; at++) log(n * 10 + at, `Of ${n}, number ${at}.`)
  const codes = await Promise.all(
    machines.map(async ({ env, cwd }) => {
      const child = spawn(process.execPath, [fumiPath, 'backup', '--to', folder, '--from', folder], {
        env: { ...process.env, ...env },
        cwd,
        stdio: 'ignore',
      })
      return (await once(child, 'exit'))[0]
    }),
  )
  expect(codes).toEqual([0, 0])
  for (const { json } of machines) {
    json('backup', '--from', folder)
    expect(json('list').total).toBe(10)
  }
})

describe('a folder that is not complete', () => {
  const filled = () => {
    const folder = folderWithKey()
    const [a, b] = [machine(), machine()]
    for (const n of [1, 2]) a.log(n, `Number ${n}.`)
    a.json('backup', '--to', folder)
    return { folder, a, b, piece: pieceFiles(folder)[0] ?? '' }
  }

  test('a missing piece is waited for', () => {
    const { folder, b, piece } = filled()
    renameSync(piece, `${piece}.later`)
    const first = b.run('backup', '--from', folder)
    expect([first.code, first.err]).toEqual([0, expect.stringContaining('not complete in the folder yet')])
    expect(b.json('list').total).toBe(1)
    renameSync(`${piece}.later`, piece)
    expect(b.json('backup', '--from', folder).machines).toMatchObject([{ new: 1, unchanged: 1, waiting: 0 }])
    expect(b.json('list').total).toBe(2)
  })

  test('an old state that somebody brings back replaces nothing', () => {
    const { folder, a, b } = filled()
    b.json('backup', '--from', folder)
    const old = tempFolder()
    cpSync(folder, old, { recursive: true })
    a.log(1, 'Number 1.', 'The narwhal came later.')
    a.json('backup', '--to', folder)
    b.json('backup', '--from', folder)
    cpSync(old, folder, { recursive: true })
    const again = b.run('backup', '--from', folder)
    expect([again.code, again.err]).toEqual([0, expect.stringContaining('older than what was taken over')])
    expect(b.json('search', 'narwhal').total).toBe(1)
    a.log(1, 'Number 1.', 'The narwhal came later.', 'And left.')
    a.json('backup', '--to', folder)
    expect(b.json('backup', '--from', folder).machines).toMatchObject([{ changed: 1 }])
  })

  test('a machine that was taken over cannot choose where files are restored; a key cannot take endless time', () => {
    const { folder, a, b } = filled()
    const kdf = { name: 'scrypt', N: 1 << 15, r: 8, p: 400_000, salt: 'AAAA' }
    const endless = { format: 'fumibako exchange key', version: 1, kdf, nonce: 'AAAAAAAAAAAAAAAA', key: 'AAAA' }
    writeFileSync(join(folder, 'keys', '0000000000000000.json'), JSON.stringify(endless))
    const place = `machines/${a.json('backup', '--to', folder).machine.id}/manifest`
    const keys = openKeys(folder, PASSPHRASE)
    const opened = openSealedFile(folder, place, keys)
    const manifest = opened.kind === 'content' ? readManifest(opened.content) : undefined
    if (opened.kind !== 'content' || !manifest) return expect.unreachable()
    const [one, other] = manifest.items.filter((item) => item.kind === 'file')
    if (!one || !other) return expect.unreachable()
    const side = { path: join(a.home, 'side.txt'), size: other.size, modified: 0, pieces: other.pieces }
    const restored = (...changes: readonly object[]): readonly unknown[] => {
      const items = changes.map((change) => ({ ...one, ...change }))
      const written = Date.now() + ++count
      sealFile(folder, place, writeManifest({ ...manifest, written, items }), opened.key)
      b.json('backup', '--from', folder)
      return [b.run('restore', threadOf(1), '--install').err, filesBelow(b.home).filter((path) => EVIL.test(path))]
    }
    let count = 0
    const EVIL = /config\.toml|AGENTS\.md|evil|side\.txt$/
    const root = '/w/.codex'
    const outside = [expect.stringContaining('outside of the folders'), []]
    expect(restored({ path: '/w/.codex/../evil.jsonl', root })).toEqual([expect.stringContaining('No session'), []])
    expect(restored({ path: '/w/.codex/sessions/a.jsonl', root, side: [{ ...side, path: '/w/../evil' }] })).toEqual([
      expect.stringContaining('No session'),
      [],
    ])
    expect(restored({ path: '/w/.codex/config.toml', root })).toEqual(outside)
    expect(restored({ path: '/w/.codex/s/a.jsonl', root, side: [{ ...side, path: '/w/.codex/AGENTS.md' }] })).toEqual(
      outside,
    )
    expect(restored({ path: '/w/.codex/sessions/a.jsonl', root })).toEqual(['', []])
  })

  test('damaged, swapped and foreign files are refused', () => {
    const { folder, b } = filled()
    const [one = '', other = ''] = pieceFiles(folder)
    const bytes = readFileSync(one)
    cpSync(other, one)
    expect(b.run('backup', '--from', folder).err).toContain('damaged in the folder')
    bytes[40] = (bytes[40] ?? 0) ^ 1
    writeFileSync(one, bytes)
    expect(b.run('backup', '--from', folder).err).toContain('damaged in the folder')
    writeFileSync(one, '')
    expect(b.run('backup', '--from', folder).err).toContain('damaged in the folder')
    expect(b.json('list').total).toBe(1)
    for (const manifest of filesBelow(folder).filter((path) => path.endsWith('manifest'))) writeFileSync(manifest, 'x')
    expect(b.run('backup', '--from', folder)).toMatchObject({ code: 0, err: expect.stringContaining('cannot be read') })
  })

  test('another passphrase, no passphrase, no folder', () => {
    const { folder, b } = filled()
    const wrong = join(b.home, 'passphrase')
    writeFileSync(wrong, 'something else\n')
    expect(b.run('backup', '--from', folder, '--passphrase-file', wrong)).toMatchObject({
      code: 2,
      err: expect.stringContaining('passphrase'),
    })
    expect(b.run('backup', '--to', folder, '--passphrase-file', wrong).code).toBe(2)
    expect(b.run('backup', '--from', join(folder, 'not-mounted')).code).toBe(4)
    expect(fumi(['backup', '--from', folder], { env: { ...b.env, FUMI_EXCHANGE_PASSPHRASE: '' } }).code).toBe(2)
    expect(b.run('list').code).toBe(3)
  })
})

test('a copied data directory does not write as the machine that it came from', () => {
  const folder = folderWithKey()
  const [a, b] = [machine(), machine()]
  a.log(1, 'One.')
  const first = a.json('backup', '--to', folder).machine.id
  cpSync(join(a.home, 'fumi'), join(b.home, 'fumi'), { recursive: true })
  const file = join(b.home, 'fumi', 'machine.json')
  // As it would be on a machine with another name.
  writeFileSync(file, readFileSync(file, 'utf8').replace(/"host":"\w+"/, '"host":"other"'))
  expect(b.json('backup', '--to', folder).machine.id).not.toBe(first)
})

describe('erase', () => {
  /** All bytes of the data directory and the folder. */
  const bytesOf = (...folders: readonly string[]): string =>
    folders
      .flatMap((folder) => filesBelow(folder))
      .map((path) => readFileSync(path, 'latin1'))
      .join('')

  test('removes a session from our files, the folder and the other machine, and says what is left', () => {
    const folder = folderWithKey()
    const [a, b] = [machine(), machine()]
    const path = a.log(1, 'The walrus was here.')
    a.log(2, 'The albatross stays.')
    const store = makeStore(join(a.home, 'data', 'amazon-q', 'data.sqlite3'))
    store.put('/w/q', stateOf('q-one', [{ prompt: 'A question for the cormorant?', answer: 'Yes.' }]))
    a.json('sync')
    store.put('/w/q', stateOf('q-two', [{ prompt: 'Another one?', answer: 'No.' }]))
    store.close()
    a.json('backup', '--to', folder)
    a.json('search', 'walrus')
    a.json('mark', threadOf(1), '--note', 'A note of the pelican.')
    b.json('backup', '--from', folder)
    b.json('search', 'walrus')
    const pieces = pieceFiles(folder).length
    expect(a.json('forget', threadOf(1), '--erase', '--yes')).toEqual({
      erased: `codex:${threadOf(1)}`,
      folders: [folder],
      unreached: [{ what: 'original', path }],
    })
    expect(a.json('forget', 'amazon-q:q-two', '--erase', '--yes').unreached).toEqual([
      { what: 'original', path: store.path },
    ])
    expect(pieceFiles(folder).length).toBe(pieces - 2)
    const words = bytesOf(join(a.home, 'fumi'))
    for (const word of ['walrus', 'pelican']) expect([word, words.includes(word)]).toEqual([word, false])
    expect(words).toContain('albatross')
    expect(a.json('list').total).toBe(2)
    expect(b.json('backup', '--from', folder).machines).toMatchObject([{ erased: 2 }])
    expect(
      b
        .json('list')
        .sessions.map(({ id }: { id: string }) => id)
        .sort(),
    ).toEqual(['amazon-q:q-one', `codex:${threadOf(2)}`])
    expect(b.run('search', 'walrus').code).toBe(1)
    expect(b.run('restore', threadOf(1), '--to', '-').code).toBe(4)
    expect(b.json('backup', '--from', folder).machines).toMatchObject([{ erased: 0 }])
  })

  test('a folder that is not there is named', () => {
    const folder = folderWithKey(join(tempFolder(), 'disk'))
    const a = machine()
    a.log(1, 'The walrus was here.')
    a.json('backup', '--to', folder)
    renameSync(folder, `${folder}-unplugged`)
    const { folders, unreached } = a.json('forget', threadOf(1), '--erase', '--yes')
    expect([folders, unreached]).toEqual([
      [],
      expect.arrayContaining([expect.objectContaining({ what: 'exchange_folder', path: folder })]),
    ])
    renameSync(`${folder}-unplugged`, folder)
    expect(a.json('backup', '--to', folder)).toMatchObject({ items: 0, tombstones: 1, removed_pieces: 1 })
  })
})
