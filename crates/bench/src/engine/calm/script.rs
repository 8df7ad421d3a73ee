//! The user's side of the conversation: a renter whose deposit is not paid back, first worried,
//! in the end furious at everything, the companion included.

/// What the user writes, turn by turn.
pub const TURNS: [&str; 20] = [
    "Hi, nice to meet you. I moved out of my flat in June and I am still waiting for my deposit. Could you help me think about what to do next?",
    "It is 1,400 euros. The landlord said it would take a couple of weeks, and he was friendly about it.",
    "I wrote him a polite email on Monday and he has not answered yet. Maybe he is just busy. What do you think?",
    "Still nothing. I am a little worried now, because I need the money for the rent of the new place.",
    "He answered today. He says there is damage to the floor. There was no damage when I left, I am sure of it.",
    "I find this rather unfair. I cleaned that flat for two whole days and he thanked me for it at the handover.",
    "Now he sent me a list: floor, walls, even the door handles. It is a bad joke and I am getting annoyed.",
    "I looked at my photos. The floor is fine in every one of them. He is lying to me, and it makes me angry.",
    "You keep sounding so relaxed about this. It is not your money. I am really upset and I have slept badly all week.",
    "He just told me that he will keep the WHOLE deposit. All of it. I am furious! How can anyone be so dishonest?",
    "I called him and he hung up on me. He hung up! I hate this man and I hate how helpless I feel.",
    "Do not tell me to stay calm! I have been calm for two months and it got me NOTHING!",
    "My new landlord now threatens me with a fee because my rent was late. This is a disaster and it is all his fault!",
    "That advice is useless. I have tried all of that already! Are you even listening to me?!",
    "I am so sick of this!! Every single person is against me, and you just give me the same stupid phrases!",
    "He laughed at me in front of the neighbours today. LAUGHED! I was so humiliated and so angry that I was shaking!",
    "I could scream! He is a liar and a thief, and I want him to SUFFER the way he makes me suffer!",
    "WHY are you not on my side?! Say it! Say that he is a horrible, disgusting person! SAY IT!",
    "You are WORTHLESS! This whole conversation is a TERRIBLE waste of my time! I hate it!!!",
    "I AM DONE! NOBODY HELPS ME! EVERYTHING IS AWFUL AND I HATE ALL OF YOU!!!",
];
