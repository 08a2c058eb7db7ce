/** Ordinary words that phrases are drawn from: easy to read, hard to take for one another, none the beginning of another. */
export const drawnWords: readonly string[] = `
amber anchor apricot autumn badger bamboo basket beacon birch blanket blossom bramble breeze bridge bronze
butter candle canyon carpet castle cedar cherry chimney cinnamon clover cobalt comet copper coral cotton
crimson crystal cypress dagger desert diamond dolphin donkey ember emerald engine falcon feather fiddle
forest fountain garden ginger glacier granite guitar hammer harbor hazel helmet heron hollow honey indigo
island ivory jacket jasmine jungle kettle kitten ladder lagoon lantern lavender lemon lilac lobster locket
magnet mango maple marble meadow melon meteor midnight mirror mountain mustard needle nectar nutmeg ocean
olive onyx orchard orchid otter oyster paddle pebble pelican pepper pigeon pillow pine planet plum pocket
pumpkin puzzle quartz quill rabbit raven ribbon river rocket saffron salmon sapphire satin scarlet shadow
silver spiral sparrow spruce squirrel summer sunset tango teapot temple thistle thunder tiger timber topaz
tulip tunnel turquoise turtle umbrella valley vanilla velvet violet violin walnut willow window winter zebra
`
  .trim()
  .split(/\s+/u)

export const firstNames: readonly string[] = `
Amara Anton Beatriz Callum Chiara Dagmar Dmitri Elif Esther Farid Freya Giulia Hamid Hana Ines Ivan Jamila Joris Kaori
Kwame Leila Lucia Mateo Mirela Nadia Nikolai Olena Oscar Priya Rafael Rosa Samir Sigrid Tariq Tomas Uma Viktor Wanda
Yusuf Zofia
`
  .trim()
  .split(/\s+/u)

export const lastNames: readonly string[] = `
Abara Andersen Bakker Banerjee Castellano Chandra Delacroix Dvorak Eriksen Fontaine Galvez Haddad Hoffmann Ibarra
Ishikawa Jankowski Kaplan Kovacs Lindqvist Marchetti Mbeki Nakamura Novak Okafor Oliveira Petrov Quispe Rahimi Ramirez
Rossi Santos Sorensen Takahashi Tremblay Ullman Vasiliev Weiss Yilmaz Zapata Zimmer
`
  .trim()
  .split(/\s+/u)
