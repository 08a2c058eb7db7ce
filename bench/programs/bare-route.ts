// A minimal HTTP server for comparison with recall: reads a JSON body, and returns a JSON document of the given size.
import { createAdaptorServer } from '@hono/node-server'
import { Hono } from 'hono'

const app = new Hono()
app.post('/', async (context) => {
  const { message } = await context.req.json()
  return context.json({ message, padding: 'x'.repeat(Number(process.argv[2])) })
})
const server = createAdaptorServer({ fetch: app.fetch })
server.listen(0, '127.0.0.1', () => console.log(JSON.stringify(server.address())))
