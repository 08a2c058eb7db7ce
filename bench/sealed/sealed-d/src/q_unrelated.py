_M = """What's the capital of Mongolia?
explain compound interest to a high school kid
how do I get red wine out of a white tablecloth
Write a limerick about a penguin who hates snow.
What is the boiling point of water at 8000 feet?
who painted Girl with a Pearl Earring
how many cups in a gallon
what's the difference between a crocodile and an alligator
Give me 5 names for a coffee cart
When did the Berlin Wall come down?
how do solar panels make electricity
what does 'habeas corpus' mean
Convert 72 kilometers per hour to miles per hour.
summarize the plot of Moby Dick in three sentences
How do you tie a bowline?
what's a good beginner houseplant that can live in low light
Why is the sky blue
Translate "where is the train station" into Portuguese.
what do bees do in winter
how does a jury get picked
List the planets in order of size
explain photosynthesis to me like I am ten
how do I reset a frozen iPhone
who won the world cup in 1998
Is it cheaper to lease or buy a copier, in general?"""
Q = [dict(m=x) for x in _M.split("\n")]
