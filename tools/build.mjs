/**
 * Makes dist/ of src/: modules and their types, then the program in few files, then the page
 * and the samples it shows. Run by npm run build.
 */
import { execFileSync } from 'node:child_process'
import { copyFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')

rmSync(join(root, 'dist'), { recursive: true, force: true })
const run = (file, ...words) =>
  execFileSync(process.execPath, [join(root, file), ...words], { cwd: root, stdio: 'inherit' })
run('node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json')
copyFileSync(join(root, 'src/server/openapi/shapes.json'), join(root, 'dist/server/openapi/shapes.json'))
await import('./bundle.mjs')
run('node_modules/vite/bin/vite.js', 'build', '--logLevel', 'warn')
run('tools/samples.mjs')
