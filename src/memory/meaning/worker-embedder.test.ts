import { expect, it } from 'vitest'
import { cosine } from '../../search/embedder.ts'
import { openMiniLm } from '../../search/minilm/minilm.ts'
import { openWorkerEmbedder } from './worker-embedder.ts'

it('computes the vectors of the model in a thread, questions before texts of the index', async () => {
  const { questions, background } = openWorkerEmbedder()
  const order: string[] = []
  const texts = Array.from({ length: 40 }, (_, at) => `The kayak number ${at} is red and was bought last summer.`)
  const indexed = background.embed(texts).then((vectors) => {
    order.push('index')
    return vectors
  })
  const [asked] = await questions.embed(['Where did I rent the kayak?'])
  order.push('question')
  const vectors = await indexed

  const model = await openMiniLm()
  const [own] = await model.embed(['Where did I rent the kayak?'])
  expect(questions).toMatchObject({ model: model.model, dimensions: model.dimensions })
  expect(cosine(asked as Float32Array, own as Float32Array)).toBeGreaterThan(0.999999)
  expect(vectors).toHaveLength(texts.length)
  expect(order).toEqual(['question', 'index'])
})
