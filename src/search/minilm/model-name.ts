/** The local embedding model. Vectors of models with different names are never compared. */
export const miniLm = { model: 'minilm-l6-v2', dimensions: 384 } as const
