JUDGE={i:(lambda f,s:()) for i in (3,4,5,6)}
